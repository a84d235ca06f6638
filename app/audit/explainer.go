package audit

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// suspect is a posting whose hash differs from the stored one.
type suspect struct {
	leaf        ledger.Leaf
	storedHash  merkle.Hash
	explanation string // what was changed according to its digest, if found
	nearby      []ledger.Leaf
}

// explainer finds out what was changed in a posting, if a single change explains its stored
// hash. It tries likely changes: accounts, amounts, memos and times of nearby postings, and
// typical typing errors. An explanation is certain, because the hash is then the same.
type explainer struct {
	// loadAccounts reads at most limit accounts of the platform. It is called on first use.
	loadAccounts    func(limit int) ([]ledger.Account, error)
	pathsByCurrency map[money.Currency][]string
	nearby          []ledger.Leaf // the last postings before this one
	remainingTries  int           // how many postings may still be explained
}

const (
	maxNearby   = 64
	maxAccounts = 10_000
)

func newExplainer(load func(limit int) ([]ledger.Account, error)) *explainer {
	return &explainer{loadAccounts: load, remainingTries: 2 * MaxFindings}
}

// addNearby adds a posting to those whose values are tried.
func (x *explainer) addNearby(l ledger.Leaf) {
	if len(x.nearby) == maxNearby {
		x.nearby = x.nearby[1:]
	}
	x.nearby = append(x.nearby, l)
}

// accountPaths returns the paths of the accounts in a currency.
func (x *explainer) accountPaths(currency money.Currency) []string {
	if x.pathsByCurrency == nil {
		x.pathsByCurrency = map[money.Currency][]string{}
		found, err := x.loadAccounts(maxAccounts)
		if err != nil {
			return nil // without an explanation; the check itself will return the error
		}
		for _, a := range found {
			x.pathsByCurrency[a.Currency] = append(x.pathsByCurrency[a.Currency], a.Path)
		}
	}
	return x.pathsByCurrency[currency]
}

// explainDigest returns which change of a posting explains its stored digest, or "".
func (x *explainer) explainDigest(l ledger.Leaf, stored []byte) string {
	if x.remainingTries == 0 || len(stored) != len(merkle.Hash{}) {
		return ""
	}
	x.remainingTries--
	want := [32]byte(stored)
	return x.findChange(l, func(l ledger.Leaf) bool { return l.Digest() == want })
}

// explainSuspect returns which change explains the sealed hash of a suspect.
func (x *explainer) explainSuspect(s suspect, all []suspect) string {
	if s.explanation != "" {
		return s.explanation
	}
	for _, other := range all {
		for _, recorded := range [...]time.Time{s.leaf.Recorded, other.leaf.Recorded} {
			candidate := s.leaf
			candidate.Seq, candidate.Recorded = other.leaf.Seq, recorded
			if other.leaf.Seq != s.leaf.Seq && merkle.LeafHash(candidate) == other.storedHash {
				return fmt.Sprintf("it was sealed as number %d", other.leaf.Seq)
			}
		}
	}
	if x.remainingTries > 0 {
		x.remainingTries--
		x.nearby = s.nearby
		if why := x.findChange(s.leaf, func(l ledger.Leaf) bool { return merkle.LeafHash(l) == s.storedHash }); why != "" {
			return why
		}
	}
	return "the change could not be determined"
}

// findChange looks for the one change after which original reports true.
func (x *explainer) findChange(l ledger.Leaf, original func(ledger.Leaf) bool) string {
	for _, try := range [...]func(ledger.Leaf, func(ledger.Leaf) bool) string{x.tryKind, x.tryMemo, x.tryTimes, x.tryReferences, x.tryAmount,
		x.tryAccount, x.tryExtraEntry} {
		if why := try(l, original); why != "" {
			return why
		}
	}
	return ""
}

func (x *explainer) tryKind(l ledger.Leaf, original func(ledger.Leaf) bool) string {
	current := l.Kind
	for _, l.Kind = range ledger.Kinds() {
		if original(l) {
			return fmt.Sprintf("its kind was %s and is %s", l.Kind, current)
		}
	}
	return ""
}

func (x *explainer) tryMemo(l ledger.Leaf, original func(ledger.Leaf) bool) string {
	current := l.Memo
	memos := []string{""}
	for _, n := range x.nearby {
		memos = append(memos, n.Memo)
	}
	for _, l.Memo = range memos {
		if original(l) {
			return fmt.Sprintf("its memo was %q and is %q", l.Memo, current)
		}
	}
	return ""
}

func (x *explainer) tryTimes(l ledger.Leaf, original func(ledger.Leaf) bool) string {
	candidates := func(current time.Time) []time.Time {
		list := []time.Time{l.Recorded}
		for _, n := range x.nearby {
			list = append(list, n.Effective, n.Recorded)
		}
		for days := 1; days <= 400; days++ {
			list = append(list, current.AddDate(0, 0, days), current.AddDate(0, 0, -days))
		}
		for hours := 1; hours < 48; hours++ {
			list = append(list, current.Add(time.Duration(hours)*time.Hour), current.Add(-time.Duration(hours)*time.Hour))
		}
		return list
	}
	other := l
	for _, other.Effective = range candidates(l.Effective) {
		if original(other) {
			return fmt.Sprintf("its effective time was %s and is %s", other.Effective.Format(time.RFC3339Nano), l.Effective.Format(time.RFC3339Nano))
		}
	}
	other = l
	for _, other.Recorded = range candidates(l.Recorded) {
		if original(other) && !other.Recorded.Equal(l.Recorded) {
			return fmt.Sprintf("its recorded time was %s and is %s", other.Recorded.Format(time.RFC3339Nano), l.Recorded.Format(time.RFC3339Nano))
		}
	}
	return ""
}

func (x *explainer) tryReferences(l ledger.Leaf, original func(ledger.Leaf) bool) string {
	transactions, reversed := []ident.Transaction{{}}, []uuid.UUID{uuid.Nil}
	for _, n := range x.nearby {
		transactions, reversed = append(transactions, n.Transaction), append(reversed, n.ID)
	}
	other := l
	for _, other.Transaction = range transactions {
		if original(other) {
			return fmt.Sprintf("its transaction was %s and is %s", orNone(other.Transaction.IsZero(), other.Transaction),
				orNone(l.Transaction.IsZero(), l.Transaction))
		}
	}
	other = l
	for _, other.Reverses = range reversed {
		if original(other) {
			return fmt.Sprintf("it reversed %s and reverses %s", orNone(other.Reverses == uuid.Nil, other.Reverses),
				orNone(l.Reverses == uuid.Nil, l.Reverses))
		}
	}
	return ""
}

func orNone(none bool, id fmt.Stringer) string {
	if none {
		return "none"
	}
	return id.String()
}

func (x *explainer) tryAmount(l ledger.Leaf, original func(ledger.Leaf) bool) string {
	for i, current := range l.Entries {
		l.Entries = slices.Clone(l.Entries)
		try := func(amount int64) bool {
			l.Entries[i].Amount = amount
			return amount > 0 && amount != current.Amount && original(l)
		}
		for _, amount := range x.candidateAmounts(current.Amount) {
			if try(amount) {
				return fmt.Sprintf("the amount of entry %d was %d %s and is %d", i+1, amount, current.Currency, current.Amount)
			}
		}
		l.Entries[i] = current
	}
	return ""
}

// candidateAmounts are the amounts that an amount may have been changed from.
func (x *explainer) candidateAmounts(current int64) (list []int64) {
	for _, n := range x.nearby {
		for _, e := range n.Entries {
			list = append(list, e.Amount)
		}
	}
	for by := int64(10); by <= 1_000_000_000; by *= 10 {
		list = append(list, current/by)
		if current <= ledger.MaxAmount/by {
			list = append(list, current*by)
		}
		for digit := int64(1); digit < 10; digit++ { // one digit was another
			list = append(list, current+digit*by, current-digit*by)
		}
	}
	for by := int64(1); by <= 1_000; by++ {
		list = append(list, current+by, current-by)
	}
	return list
}

func (x *explainer) tryAccount(l ledger.Leaf, original func(ledger.Leaf) bool) string {
	for i, current := range l.Entries {
		l.Entries = slices.Clone(l.Entries)
		if l.Entries[i].Debit, l.Entries[i].Credit = current.Credit, current.Debit; original(l) {
			return fmt.Sprintf("entry %d was %s → %s and has been swapped", i+1, current.Credit, current.Debit)
		}
		l.Entries[i] = current
		for _, path := range x.accountPaths(current.Currency) {
			if l.Entries[i].Debit = path; original(l) {
				return fmt.Sprintf("entry %d debited %s and debits %s", i+1, path, current.Debit)
			}
			l.Entries[i].Debit = current.Debit
			if l.Entries[i].Credit = path; original(l) {
				return fmt.Sprintf("entry %d credited %s and credits %s", i+1, path, current.Credit)
			}
			l.Entries[i].Credit = current.Credit
		}
	}
	return ""
}

func (x *explainer) tryExtraEntry(l ledger.Leaf, original func(ledger.Leaf) bool) string {
	entries := l.Entries
	for i := len(entries) - 1; i >= 0; i-- {
		if l.Entries = slices.Delete(slices.Clone(entries), i, i+1); original(l) {
			return fmt.Sprintf("entry %d was added", i+1)
		}
	}
	return ""
}
