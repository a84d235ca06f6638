package ports

import "causeway/core/account"

// AccountChecker is implemented by adapters that pay to some accounts of a type only, such as the addresses of one of the
// networks of a chain.
type AccountChecker interface {
	// CheckAccount returns INVALID_INPUT for an account that the connection can never pay to. It does no I/O.
	CheckAccount(a account.External) error
}
