// Package feed is how connectors report what they find: they keep it as events, numbered in the order of the commits that find them, so
// that a piece of the feed that is read again is the same.
package feed

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// MaxEvents is how many events one piece of a feed has.
const MaxEvents = 1000

// Event is what a wallet or a node for BTC reports.
type Event struct {
	Number int64 // set by the store
	Kind   Kind
	// PartnerID is unique for the kind.
	PartnerID string
	Platform  ident.Platform // zero: unknown
	// Receipt is the partner's id of the receipt that is reversed.
	Receipt   string
	Reference string
	Satoshis  int64
	Subject   uuid.UUID
	Text      string
	At        time.Time
}

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	Receipt  Kind = "RECEIPT"
	Reversal Kind = "REVERSAL"
	Fee      Kind = "FEE"
	Changed  Kind = "CHANGED"
	Unknown  Kind = "UNKNOWN" // money has left by no payment of ours, to what Text says
)

// AddTo adds the event to the report of a rail.
func (e Event) AddTo(report *ports.RailReport, on corridor.Rail) {
	amount := money.Amount{Minor: e.Satoshis, Currency: money.BTC}
	switch e.Kind {
	case Receipt:
		receipt := transaction.Receipt{Platform: e.Platform, Rail: on, PartnerID: e.PartnerID, Reference: e.Reference, Amount: amount, At: e.At}
		if on == corridor.Bitcoin { // whose ids are those of outputs
			receipt.TransactionHash, _, _ = strings.Cut(e.PartnerID, ":")
		}
		report.Receipts = append(report.Receipts, ports.RailReceipt{Receipt: receipt})
	case Reversal:
		report.Reversals = append(report.Reversals, ports.ReceiptReversal{
			Platform: e.Platform, Rail: on, Receipt: e.Receipt, PartnerID: e.PartnerID, Text: e.Text, At: e.At,
		})
	case Fee:
		report.Fees = append(report.Fees, ports.RailFee{Platform: e.Platform, Rail: on, PartnerID: e.PartnerID, Amount: amount, At: e.At,
			Memo: e.Text})
	case Unknown:
		report.Contradictions = append(report.Contradictions, rail.UnknownDeparture(rail.Said{State: "SENT", At: e.At, Amount: amount,
			PartnerID: e.PartnerID}, e.Text))
	case Changed:
		report.Changed = append(report.Changed, ports.RailSubject{Platform: e.Platform, Subject: e.Subject})
	}
}
