"""Import of people from a table: members with their rooms, devices, addresses, port forwards and payments, one member a line."""
