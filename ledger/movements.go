package ledger

import (
	"cmp"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
)

// Header holds what every movement needs beside its amounts.
type Header struct {
	ID          uuid.UUID
	Platform    ident.Platform
	Transaction ident.Transaction // zero for none
	Effective   time.Time
	Memo        string
}

// posting builds the posting of a movement. Entries with an amount of zero are left out:
// a payment without a fee has no fee entry. Validate judges the rest when the movement is
// posted.
func (h Header) posting(kind Kind, entries ...Entry) Posting {
	p := Posting{
		ID:          h.ID,
		Platform:    h.Platform,
		Kind:        kind,
		Transaction: h.Transaction,
		Effective:   h.Effective,
		Memo:        h.Memo,
		Entries:     make([]Entry, 0, len(entries)),
	}
	for _, e := range entries {
		if e.Amount != 0 {
			p.Entries = append(p.Entries, e)
		}
	}
	return p
}

func entry(debit, credit string, amount money.Amount) Entry {
	return Entry{Debit: debit, Credit: credit, Currency: amount.Currency, Amount: amount.Minor}
}

// Money comes in. A partner is the path of a rail or a chain.

// JITReceived records that the payment for a just-in-time quote was received.
//
//	partner → funding/jit
func JITReceived(h Header, partner string, amount money.Amount) Posting {
	return h.posting(KindJITReceived, entry(partner, FundingJIT, amount))
}

// IncomingFunds is money received at a partner for an account that is known.
type IncomingFunds struct {
	Partner string // a Rail or Chain path, or transit/internal
	To      string // the account of a customer, a platform or a wallet
	Amount  money.Amount
}

// Deposit records that a payment into an account was received: at a partner, or from another customer
// of the platform.
//
//	partner, or transit/internal → account
func Deposit(h Header, f IncomingFunds) Posting {
	return h.posting(KindDeposit, entry(f.Partner, f.To, f.Amount))
}

// TransferIn records that money pulled from an external account was received.
//
//	partner → account
func TransferIn(h Header, f IncomingFunds) Posting {
	return h.posting(KindTransferIn, entry(f.Partner, f.To, f.Amount))
}

// UnmatchedReceived records that money of an unknown owner was received.
//
//	partner → funding/unmatched
func UnmatchedReceived(h Header, partner string, amount money.Amount) Posting {
	return h.posting(KindUnmatchedReceived, entry(partner, FundingUnmatched, amount))
}

// UnmatchedAssigned records that the owner of unmatched money was found. It goes to
// funding/jit if it pays a quote, to transit/refunds if it is sent back, or to an account.
//
//	funding/unmatched → to
func UnmatchedAssigned(h Header, to string, amount money.Amount) Posting {
	return h.posting(KindUnmatchedAssigned, entry(FundingUnmatched, to, amount))
}

// Money is converted.

// Conversion is one exchange; its amounts are computed elsewhere. Sent is all that leaves
// From: Fees, PlatformFees and RoundingSent are parts of it, in its minor units, and the rest is
// exchanged. Received reaches To. RoundingReceived, in minor units of the received
// currency, is what the exchange yielded beyond that; the service keeps it.
type Conversion struct {
	From             string // funding/jit, or the account that pays
	To               string // transit/payouts, or the account that receives
	Sent             money.Amount
	Fees             int64
	PlatformFees     int64
	PlatformFeesTo   string // platform/fees-pending, or platform/fees if To is the end of the payment
	RoundingSent     int64
	Received         money.Amount
	RoundingReceived int64
}

// Converted records an exchange of one currency for another through the trading accounts
// of both.
//
//	from → income/fees          sending currency
//	from → platform/fees-pending, or platform/fees   sending currency
//	from → income/rounding      sending currency
//	from → fx/position          sending currency
//	fx/position → to            receiving currency
//	fx/position → income/rounding   receiving currency
func Converted(h Header, c Conversion) Posting {
	sent := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: c.Sent.Currency} }
	exchanged := c.Sent.Minor - c.Fees - c.PlatformFees - c.RoundingSent
	if exchanged <= 0 || c.Received.Minor <= 0 || c.Sent.Currency == c.Received.Currency {
		// This is no exchange: return a posting without entries, which Validate refuses.
		return h.posting(KindConverted)
	}
	return h.posting(KindConverted,
		entry(c.From, IncomeFees, sent(c.Fees)),
		entry(c.From, c.PlatformFeesTo, sent(c.PlatformFees)),
		entry(c.From, IncomeRounding, sent(c.RoundingSent)),
		entry(c.From, FXPosition, sent(exchanged)),
		entry(FXPosition, c.To, c.Received),
		entry(FXPosition, IncomeRounding, money.Amount{Minor: c.RoundingReceived, Currency: c.Received.Currency}),
	)
}

// Money moves on a chain, from and to wallets whose keys are the customers'.

// WalletDebit records that the owner of a wallet signed a payment. What the wallet holds on the chain
// can no longer be spent twice. The payment is held like one that was received; if the chain refuses the
// transfer, this posting is reversed.
//
//	wallet → funding/jit
func WalletDebit(h Header, wallet string, amount money.Amount) Posting {
	return h.posting(KindWalletDebit, entry(wallet, FundingJIT, amount))
}

// WalletCredit records that a payment to a wallet settled on the chain.
//
//	transit/payouts → wallet
func WalletCredit(h Header, wallet string, amount money.Amount) Posting {
	return h.posting(KindWalletCredit, entry(TransitPayouts, wallet, amount))
}

// Money goes out.

// OutgoingFunds is money that leaves an account. Fees and PlatformFees are in minor units of the same
// currency and are charged on top of Amount.
type OutgoingFunds struct {
	From           string // the account of a customer, a platform or a wallet, or funding/jit
	To             string // the account that receives; empty for a payout
	Amount         money.Amount
	Fees           int64
	PlatformFees   int64
	PlatformFeesTo string // as in a Conversion
}

// TransferOut records a payment in the currency of the account that pays. Delivered follows
// when the partner confirms a payout; one that fails is undone by reversing this posting.
//
//	account → transit/payouts, or the account that receives
//	account → income/fees
//	account → platform/fees-pending, or platform/fees
func TransferOut(h Header, f OutgoingFunds) Posting {
	return h.posting(KindTransferOut, entry(f.From, cmp.Or(f.To, TransitPayouts), f.Amount),
		entry(f.From, IncomeFees, money.Amount{Minor: f.Fees, Currency: f.Amount.Currency}),
		entry(f.From, f.PlatformFeesTo, money.Amount{Minor: f.PlatformFees, Currency: f.Amount.Currency}))
}

// Delivered records that a payout reached its beneficiary: through a partner, or within the ledger. Then
// the Deposit of the beneficiary takes it from transit/internal in the same commit.
//
//	transit/payouts → partner, or transit/internal
func Delivered(h Header, to string, amount money.Amount) Posting {
	return h.posting(KindDelivered, entry(TransitPayouts, to, amount))
}

// Returned records that a delivered payout was returned. The delivery remains a fact, so
// this is no reversal of Delivered but a receipt with a date of its own. The money is in
// transit again until the conversion is reversed.
//
//	partner → transit/payouts
func Returned(h Header, partner string, amount money.Amount) Posting {
	return h.posting(KindReturned, entry(partner, TransitPayouts, amount))
}

// Money is refunded. A payment that fails is refunded in two or three steps: a conversion
// is reversed (Reverse), so that the money is again where it was received; then it is
// owed to the payer; then it is paid.

// RefundOwed records that money held for a payment will be refunded to its payer. It is
// held in funding/jit, or in the account that paid.
//
//	held in → transit/refunds
func RefundOwed(h Header, heldIn string, amount money.Amount) Posting {
	return h.posting(KindRefundOwed, entry(heldIn, TransitRefunds, amount))
}

// RefundPaid records that the payer was refunded: at a partner (fiat, to the instrument
// that paid), or to an account of the payer (prefunded payments and crypto).
//
//	transit/refunds → to
func RefundPaid(h Header, to string, amount money.Amount) Posting {
	return h.posting(KindRefundPaid, entry(TransitRefunds, to, amount))
}

// RefundFailed records that a refund cannot be sent; its owner has to be found by hand.
//
//	transit/refunds → funding/unmatched
func RefundFailed(h Header, amount money.Amount) Posting {
	return h.posting(KindRefundFailed, entry(TransitRefunds, FundingUnmatched, amount))
}

// Fees and adjustments that belong to no payment.

// FeeCharged records a fee that an account paid and that belongs to no other movement.
//
//	account → income/fees
func FeeCharged(h Header, from string, amount money.Amount) Posting {
	return h.posting(KindFee, entry(from, IncomeFees, amount))
}

// FeePaid records that a partner deducted its fee from our funds there.
//
//	expense/rails → partner
func FeePaid(h Header, partner string, amount money.Amount) Posting {
	return h.posting(KindFee, entry(ExpenseRails, partner, amount))
}

// FeeReturned records that a partner refunded a fee.
//
//	partner → expense/rails
func FeeReturned(h Header, partner string, amount money.Amount) Posting {
	return h.posting(KindFee, entry(partner, ExpenseRails, amount))
}

// Adjustment records a correction that finance enters by hand, between any accounts of the
// chart. The storage keeps its authorisation; the memo gives the reason.
//
//	as the entries say
func Adjustment(h Header, entries []Entry) Posting { return h.posting(KindAdjustment, entries...) }
