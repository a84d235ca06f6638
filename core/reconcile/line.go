package reconcile

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// Account is a reconciled account: what a partner holds for a platform.
type Account struct {
	Platform ident.Platform
	Path     string // "rails/RTP", "chains/LAYER2" or "own/OPERATING"
	Currency money.Currency
}

// AccountForms are the forms of the paths of reconciled accounts.
const AccountForms = "rails/<RAIL>, chains/<network> or own/<NAME>"

// IsReconcilable reports whether banks or partners send statements of the account at a path.
func IsReconcilable(path string) bool {
	line, err := ledger.FindChartLine(path)
	return err == nil && (strings.HasPrefix(line.Path, "rails/") || strings.HasPrefix(line.Path, "chains/") || isOwn(line.Path))
}

// isOwn reports whether a path is that of the company's own money at a bank or partner.
func isOwn(path string) bool { return strings.HasPrefix(path, ledger.Own("")) }

// IsKnownPartner reports whether the path is that of a rail or chain of the service.
func IsKnownPartner(path string) bool {
	rail, ok := corridor.AtPath(path)
	return ok && rail.Known()
}

// UnknownPartner returns the INVALID_INPUT fault for the path of an account that neither the service
// nor the ledger has, with the names that it could have meant.
func UnknownPartner(path string) error {
	var names []string
	for _, rail := range corridor.Rails() {
		names = append(names, rail.LedgerPath())
	}
	return fault.Invalid(fault.Field{Field: "account", Message: "is " + path + ", which does not exist; use " + strings.Join(names, ", ") +
		", or an account with postings", Constraint: map[string]any{"enum": names}})
}

// Line is one line of a partner's statement.
type Line struct {
	ID uuid.UUID
	// Ordinal is its position in the file, from 1.
	Ordinal int
	// Amount is in minor units, positive if the partner holds more for us than before.
	Amount int64
	Booked Day
	Value  Day
	// ServicerReference is the partner's id of the movement; empty if it has none.
	ServicerReference string
	// References are all references of the line, as written.
	References  []string
	Description string
	// Returned means that the partner marks the line as a returned payment.
	Returned bool
	// ValuedOnly: the file says no booking day, so Booked depends on its last day. The identity has the value date instead.
	ValuedOnly bool
	// Identity is the same for the same line in every statement that has it.
	Identity [sha256.Size]byte
	// Reconciled lines are already matched or resolved; they are only compared with.
	Reconciled bool
}

// comparedOn returns the day on which the line is compared, and the day on which it is compared if nothing
// matches it on the first; the same if there is no other. The first is its value date. The bank may date that
// long before or after it books the line, and the ledger may have either day: more than Window days away, the
// booking day is the other one, and more than Lookback days away, where open breaks are not compared any
// more either, it is the only one.
func (l Line) comparedOn() (first, other Day) {
	switch apart := daysBetween(l.Booked, l.Value); {
	case apart <= Window:
		return l.Value, l.Value
	case apart <= Lookback:
		return l.Value, l.Booked
	default:
		return l.Booked, l.Booked
	}
}

// ComparedDays returns the days from the first to the last on which the line is compared.
func (l Line) ComparedDays() DayRange {
	first, other := l.comparedOn()
	return DayRange{First: min(first, other), Last: max(first, other)}
}

// Entry is a ledger entry on the account.
type Entry struct {
	Seq         int64 // number of the posting
	N           int   // number of the entry in the posting
	Posting     uuid.UUID
	Transaction ident.Transaction
	Kind        ledger.Kind
	Memo        string
	// Amount is in minor units, positive if the partner holds more for us than before.
	Amount int64
	Day    Day
	// PartnerReferences are further references that the partner may use: its id of a received
	// payment, and the payer's reference of an unmatched one.
	PartnerReferences []string
	// Reconciled entries are already matched or resolved; they are only compared with.
	Reconciled bool
}

// The limits of a line in bytes. Longer texts are truncated.
const (
	MaxReference   = 140
	MaxReferences  = 16
	MaxDescription = 500
	// MaxLines is the maximum number of lines in a statement.
	MaxLines = 500_000
	// MaxAccounts is the maximum number of accounts with statements in one file.
	MaxAccounts = 100
	// MaxCompared is the maximum number of lines, and of entries, in one comparison.
	MaxCompared = 1_500_000
)

// Identify sets the identity of each line of a file: a hash of the partner's id with day and
// amount, or of the whole line if it has no id. Equal lines of one file are numbered, so that
// two equal movements stay two lines, also when the statement is sent again.
func Identify(lines []Line) {
	seen := make(map[[sha256.Size]byte]uint32, len(lines))
	for i := range lines {
		content := lines[i].contentHash()
		seen[content]++
		lines[i].Identity = sha256.Sum256(binary.BigEndian.AppendUint32(content[:], seen[content]))
	}
}

func (l Line) contentHash() [sha256.Size]byte {
	b := make([]byte, 0, 256)
	b = append(b, "causeway statement line 1\n"...)
	b = binary.BigEndian.AppendUint64(b, uint64(l.Amount))
	booked := l.Booked
	if l.ValuedOnly {
		booked = l.Value
	}
	b = binary.BigEndian.AppendUint32(b, uint32(booked))
	b = appendText(b, l.ServicerReference)
	if l.ServicerReference == "" {
		b = binary.BigEndian.AppendUint32(b, uint32(l.Value))
		b = binary.BigEndian.AppendUint32(b, uint32(len(l.References)))
		for _, r := range l.References {
			b = appendText(b, r)
		}
		b = appendText(b, l.Description)
	}
	return sha256.Sum256(b)
}

func appendText(b []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
}
