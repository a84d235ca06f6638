package rail

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
)

// Effect is what a report of the end of a payment does to what is recorded of it.
type Effect int

// The effects.
const (
	Repeats     Effect = iota // the money is where the books have it
	Changes                   // it is posted
	Contradicts               // both cannot be true: somebody has to ask the partner
)

// CompareEnds returns what a report does to a payment in a state. Money that was said to be here and is now said to have left, or
// to have left and never to have done so, is not where the books have it. Only a return moves it back, and not that of a refund:
// its transaction has ended, and the money is received anew.
func (k Kind) CompareEnds(recorded, reported State) Effect {
	switch {
	case !reported.IsEnd():
		return Repeats // it is asked about again
	case !recorded.IsEnd():
		return Changes
	case (recorded == Done) == (reported == Done):
		return Repeats
	case reported == Returned && !k.IsReturn():
		return Changes
	}
	return Contradicts
}

// IsEnd reports whether the payment has ended. One that is done can still come back.
func (s State) IsEnd() bool { return s == Done || s == Refused || s == Returned || s == Cancelled }

// Said is one side of a contradiction: what is recorded of a payment, or what was said about it since.
type Said struct {
	State string
	// At is zero if nobody has named a time, and Amount if nobody has named one.
	At                    time.Time
	Amount                money.Amount
	PartnerID, Code, Text string
}

// Contradiction is a report of a partner that cannot be posted beside what is recorded. A person has to close it.
type Contradiction struct {
	// Platform, Kind and Subject are zero if the report is about no payment of ours.
	Platform ident.Platform
	Kind     Kind
	Subject  uuid.UUID
	// Name is how both sides name the payment, or how the partner names what the report is about.
	Name               string
	Recorded, Reported Said
	// Problem says in words for operators why both cannot be true, and what to ask.
	Problem string
	// Content tells reports about the same apart that differ in what is not above, such as two times of a fee; empty if those are one.
	Content string
}

// UnknownDeparture says that money has left a wallet, to an address (empty if what was paid to has none), and no record of the service
// has it.
func UnknownDeparture(left Said, to string) Contradiction {
	to = cmp.Or(to, "a script without an address")
	left.Text = "to " + to
	return Contradiction{Name: left.PartnerID, Recorded: Said{State: "NOTHING"}, Reported: left,
		Problem: fmt.Sprintf("%s has left the wallet for %s, and the service has no record of it. If commits were lost, look for the payment "+
			"among those in review, and cancel it there; if another program uses the keys, stop it. Then post what has left", left.Amount, to)}
}

// WalletMoved says that an embedded wallet has sent money, to an address, that it was not asked to pay: its owner has exported the key.
func WalletMoved(p ident.Platform, of ident.InternalAccount, left Said, to string) Contradiction {
	left.Text = "to " + to
	return Contradiction{Platform: p, Name: left.PartnerID, Recorded: Said{State: "NOTHING"}, Reported: left,
		Problem: fmt.Sprintf("%s has left the embedded wallet %s for %s without a payment: who has exported its key has moved it. The "+
			"ledger shows it in the wallet until you post it from wallets/%s to the account of the chain; payments of the wallet that need it "+
			"wait, and fail",
			left.Amount, of, to, of)}
}

// Key is the same for the same report, however often and at whichever time it is made.
func (c Contradiction) Key() string {
	said := fmt.Sprintf("%s/%s/%s/%s/%s/%s/%s", c.Kind, c.Name, c.Recorded.State, c.Reported.State, c.Reported.PartnerID,
		c.Reported.Code, c.Reported.Amount)
	if c.Content != "" {
		said += "/" + c.Content
	}
	return fmt.Sprintf("%.100s/%x", c.Name, sha256.Sum256([]byte(said)))
}
