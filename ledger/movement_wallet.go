package ledger

import "causeway/core/money"

// WalletTransfer is money that enters or leaves an embedded wallet. Other is the far
// side: a Chain path when it moves on the chain, transit/payouts for a payment that
// is delivered later, or an account when it stays inside.
type WalletTransfer struct {
	Wallet         string
	CounterAccount string
	Amount         money.Amount
}

// WalletCredit: money has entered an embedded wallet.
//
//	other → wallet
func WalletCredit(h Header, m WalletTransfer) Posting {
	return h.posting(KindWalletCredit, entry(m.CounterAccount, m.Wallet, m.Amount))
}

// WalletDebit: money has left an embedded wallet.
//
//	wallet → other
func WalletDebit(h Header, m WalletTransfer) Posting {
	return h.posting(KindWalletDebit, entry(m.Wallet, m.CounterAccount, m.Amount))
}
