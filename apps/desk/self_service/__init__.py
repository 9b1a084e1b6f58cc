"""Members' own pages. No page takes a member's id: the member follows from the signed-in account."""
