package ledger

import "causeway/core/money"

// WalletMove is money that enters or leaves an embedded wallet. Other is the far
// side: a Chain path when it moves on the chain, transit/payouts for a payment that
// is delivered later, or an account when it stays inside.
type WalletMove struct {
	Wallet string
	Other  string
	Amount money.Amount
}

// WalletCredit: money has entered an embedded wallet.
//
//	other → wallet
func WalletCredit(h Header, m WalletMove) Posting {
	return h.posting(KindWalletCredit, entry(m.Other, m.Wallet, m.Amount))
}

// WalletDebit: money has left an embedded wallet.
//
//	wallet → other
func WalletDebit(h Header, m WalletMove) Posting {
	return h.posting(KindWalletDebit, entry(m.Wallet, m.Other, m.Amount))
}
