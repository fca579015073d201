"""What a citation says, read strictly: to which act, article, paragraph and point."""
