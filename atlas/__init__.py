"""The site: documents, tutorials, and the atlas, a page for each op of the table."""
