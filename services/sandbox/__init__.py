"""Sessions and their sandboxes: started, followed, found again, stopped and cleaned up."""
