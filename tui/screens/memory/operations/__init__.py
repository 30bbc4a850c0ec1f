"""What can be done with what memory holds, one file a kind of place."""
