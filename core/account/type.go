package account

// Type names a kind of external account in the catalogue.
type Type string
