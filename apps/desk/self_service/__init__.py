"""Members' own pages. No page takes the id of a member: whose it is follows from who signed in."""
