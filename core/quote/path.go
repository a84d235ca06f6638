package quote

import (
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/ledger"
)

// Path is where a rail's money lies in the books.
func Path(r corridor.Rail) string {
	if r.Chain() {
		return ledger.Chain(string(r))
	}
	return ledger.Rail(string(r))
}

// BookPath is where the balance of an internal account lies in the books.
func BookPath(a account.Internal) string {
	switch {
	case a.Type == account.EmbeddedWallet:
		return ledger.Wallet(a.ID)
	case a.Customer.IsZero():
		return ledger.PlatformAccount(a.ID)
	default:
		return ledger.CustomerAccount(a.ID)
	}
}
