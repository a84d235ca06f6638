package quote

import (
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/ledger"
)

// RailPath is where a rail's money lies in the books.
func RailPath(r corridor.Rail) string {
	if r.IsChain() {
		return ledger.Chain(string(r))
	}
	return ledger.Rail(string(r))
}

// AccountPath is where the balance of an internal account lies in the books.
func AccountPath(a account.Internal) string {
	switch {
	case a.Type == account.EmbeddedWallet:
		return ledger.Wallet(a.ID)
	case a.Customer.IsZero():
		return ledger.PlatformAccount(a.ID)
	default:
		return ledger.CustomerAccount(a.ID)
	}
}
