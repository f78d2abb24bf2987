"""How long the product takes to show what is in a store that has grown for years."""
