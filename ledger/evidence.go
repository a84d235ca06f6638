package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"causeway/core/ident"
)

// FactKind says what a fact is about.
type FactKind string

// The kinds. A fact of a kind is the row of a table, without the columns that change later.
const (
	FactTransaction    FactKind = "transaction"       // with its quote
	FactTexts          FactKind = "transaction-texts" // the descriptions and names of a transaction, which can be erased
	FactReceipt        FactKind = "receipt"
	FactClosing        FactKind = "closing" // with its trial balance
	FactPeriodChange   FactKind = "period-change"
	FactAuthorisation  FactKind = "authorisation"
	FactAssignment     FactKind = "assignment"
	FactReconciliation FactKind = "reconciliation" // with its lines and breaks
	FactMatches        FactKind = "reconciliation-matches"
	FactResolution     FactKind = "resolution"
	FactCheckpoint     FactKind = "checkpoint" // of the log of postings

	FactSettings                    FactKind = "settings"      // a version
	FactAddedAccount                FactKind = "added-account" // a version
	FactRecurring                   FactKind = "recurring-adjustment"
	FactGLMapping                   FactKind = "gl-mapping" // a version with its lines
	FactGLJournal                   FactKind = "gl-journal" // with its lines
	FactProposal                    FactKind = "proposal"   // as it was proposed
	FactDecision                    FactKind = "proposal-decision"
	FactMonthEndRun                 FactKind = "month-end-run" // with its result
	FactYearClosing                 FactKind = "year-closing"  // with its result
	FactYearReversal                FactKind = "year-reversal"
	FactReceivable                  FactKind = "receivable" // as it was returned
	FactReceivableChange            FactKind = "receivable-change"
	FactSafeguardingPurpose         FactKind = "safeguarding-purpose"
	FactSafeguardingReport          FactKind = "safeguarding-report" // with its lines and statements
	FactSafeguardingAcknowledgement FactKind = "safeguarding-acknowledgement"
	FactTreasuryMovement            FactKind = "treasury-movement"
	FactTreasuryArrival             FactKind = "treasury-arrival"
	FactCorridorChange              FactKind = "corridor-change"   // of the prices of one platform
	FactCorridorProposal            FactKind = "corridor-proposal" // of the prices of one platform
	FactCorridorDecision            FactKind = "corridor-decision"
	FactExternalAccount             FactKind = "external-account" // a version; its details are in a keyed hash
	FactPaymentAuthorization        FactKind = "payment-authorization"
	FactToken                       FactKind = "token"           // a version
	FactCustomerStatus              FactKind = "customer-status" // a version: status and hold
	FactMarketRates                 FactKind = "market-rates"    // a version: the rates of all currencies that were kept at one time
)

// Fact is the hash of something that was recorded beside the postings and never changes.
type Fact struct {
	Kind    FactKind
	Subject string // what it is about: the id, month or number of the row; the columns of a longer key are joined by slashes
	Hash    [32]byte
	// Hints has 4 bytes for each field: parts of the hashes of its name and of its value. They are no evidence:
	// they name the field that differs.
	Hints []byte
}

// Field is a named value of a fact.
type Field struct{ Name, Value string }

// NewFact returns the fact with these fields. Empty fields are left out, so that a column that is added to a table
// later, and is empty in its older rows, does not change their facts. The hash is SHA-256 of
//
//	"causeway fact 1\n"
//	platform id, kind (text), subject (text)
//	number of fields (4 bytes), and for each field in the order of the names: its name (text), its value (text)
func NewFact(platform ident.Platform, kind FactKind, subject string, fields []Field) Fact {
	if !slices.IsSortedFunc(fields, compareNames) {
		fields = slices.Clone(fields)
		slices.SortFunc(fields, compareNames)
	}
	present := 0
	for _, f := range fields {
		if f.Value != "" {
			present++
		}
	}
	id := platform.UUID()
	b := make([]byte, 0, 2048)
	b = append(b, "causeway fact 1\n"...)
	b = append(b, id[:]...)
	b = appendText(b, string(kind))
	b = appendText(b, subject)
	b = binary.BigEndian.AppendUint32(b, uint32(present))
	fact := Fact{Kind: kind, Subject: subject, Hints: make([]byte, 0, 4*present)}
	for _, f := range fields {
		if f.Value != "" {
			b = appendText(b, f.Name)
			b = appendText(b, f.Value)
			fact.Hints = binary.BigEndian.AppendUint16(fact.Hints, hint(f.Name))
			fact.Hints = binary.BigEndian.AppendUint16(fact.Hints, hint(f.Value))
		}
	}
	fact.Hash = sha256.Sum256(b)
	return fact
}

func compareNames(a, b Field) int { return strings.Compare(a.Name, b.Name) }

// hint is the second half of the FNV-1a hash of a text.
func hint(text string) uint16 {
	h := uint32(2166136261)
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * 16777619
	}
	return uint16(h)
}

// Differences returns the names of the fields that differ from another fact of the same subject, as its hints tell.
// names are the names of all fields, also of empty ones.
func (f Fact) Differences(other Fact, names []string) (differing []string) {
	values := func(hints []byte) map[uint16]int {
		found := map[uint16]int{}
		for h := range slices.Chunk(hints[:len(hints)/4*4], 4) {
			found[binary.BigEndian.Uint16(h)] = 1 + int(binary.BigEndian.Uint16(h[2:])) // 0 is none
		}
		return found
	}
	before, after := values(f.Hints), values(other.Hints)
	for _, name := range names {
		if key := hint(name); before[key] != after[key] {
			differing = append(differing, name)
		}
	}
	slices.Sort(differing)
	return differing
}

// EvidenceLeaf is a leaf in the log of evidence of a platform: facts that were sealed together. Seq counts from one
// without a gap.
type EvidenceLeaf struct {
	Platform ident.Platform
	Seq      int64
	Sealed   time.Time
	Facts    []Fact
}

// evidenceLeafVersion begins every leaf of a log of evidence.
const evidenceLeafVersion = "causeway leaf 2\n"

// Encode appends the bytes of the leaf to b, in the encoding of Leaf.Encode:
//
//	"causeway leaf 2\n"
//	platform id, number (8 bytes), time at which it was sealed
//	number of facts (4 bytes), and for each fact in order: kind (text), subject (text), hash (32 bytes)
func (l EvidenceLeaf) Encode(b []byte) []byte {
	platform := l.Platform.UUID()
	b = append(b, evidenceLeafVersion...)
	b = append(b, platform[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(l.Seq))
	b = binary.BigEndian.AppendUint64(b, uint64(l.Sealed.UnixMicro()))
	b = binary.BigEndian.AppendUint32(b, uint32(len(l.Facts)))
	for _, f := range l.Facts {
		b = appendText(b, string(f.Kind))
		b = appendText(b, f.Subject)
		b = append(b, f.Hash[:]...)
	}
	return b
}
