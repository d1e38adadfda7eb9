"""Pictures and tables of a trace."""
