"""The proved rules against the derivatives of other libraries."""
