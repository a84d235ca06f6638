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

// suspect is a posting that does not give the hash that was stored of it.
type suspect struct {
	leaf        ledger.Leaf
	storedHash  merkle.Hash
	explanation string // what its digest says was changed, if that could be told
	nearby      []ledger.Leaf
}

// explainer says what was changed in a posting when a single change explains the hash
// that is stored of it. It tries what such changes are made of: other accounts, amounts,
// memos and times that it has seen nearby, and the slips of a hand. What it says is
// certain, for the hash is then the same; what it does not find stays unsaid.
type explainer struct {
	// loadAccounts reads accounts of the platform, at most so many. It is called when the first
	// is wanted.
	loadAccounts    func(most int) ([]ledger.Account, error)
	pathsByCurrency map[money.Currency][]string
	nearby          []ledger.Leaf // the last few postings seen
	remainingTries  int           // how many postings may still be looked into
}

const (
	maxNearby   = 64
	maxAccounts = 10_000
)

func newExplainer(load func(most int) ([]ledger.Account, error)) *explainer {
	return &explainer{loadAccounts: load, remainingTries: 2 * MaxFindings}
}

// addNearby remembers a posting as one of which a change may have been made.
func (x *explainer) addNearby(l ledger.Leaf) {
	if len(x.nearby) == maxNearby {
		x.nearby = x.nearby[1:]
	}
	x.nearby = append(x.nearby, l)
}

// accountPaths are those that carry a currency.
func (x *explainer) accountPaths(currency money.Currency) []string {
	if x.pathsByCurrency == nil {
		x.pathsByCurrency = map[money.Currency][]string{}
		found, err := x.loadAccounts(maxAccounts)
		if err != nil {
			return nil // then it stays unsaid; the check itself will meet the error
		}
		for _, a := range found {
			x.pathsByCurrency[a.Currency] = append(x.pathsByCurrency[a.Currency], a.Path)
		}
	}
	return x.pathsByCurrency[currency]
}

// explainDigest says which change of the posting explains its stored digest, or "".
func (x *explainer) explainDigest(l ledger.Leaf, stored []byte) string {
	if x.remainingTries == 0 || len(stored) != len(merkle.Hash{}) {
		return ""
	}
	x.remainingTries--
	want := [32]byte(stored)
	return x.findChange(l, func(l ledger.Leaf) bool { return l.Digest() == want })
}

// explainSuspect says which change explains what was sealed of a suspect.
func (x *explainer) explainSuspect(s suspect, all []suspect) string {
	if s.explanation != "" {
		return s.explanation
	}
	for _, other := range all {
		for _, recorded := range [...]time.Time{s.leaf.Recorded, other.leaf.Recorded} {
			moved := s.leaf
			moved.Seq, moved.Recorded = other.leaf.Seq, recorded
			if other.leaf.Seq != s.leaf.Seq && merkle.LeafHash(moved) == other.storedHash {
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
	return "what it said cannot be told"
}

// findChange looks for the one change that makes a posting what it was.
func (x *explainer) findChange(l ledger.Leaf, was func(ledger.Leaf) bool) string {
	for _, try := range [...]func(ledger.Leaf, func(ledger.Leaf) bool) string{x.tryKind, x.tryMemo, x.tryTimes, x.tryReferences, x.tryAmount, x.tryAccount, x.tryExtraEntry} {
		if why := try(l, was); why != "" {
			return why
		}
	}
	return ""
}

func (x *explainer) tryKind(l ledger.Leaf, was func(ledger.Leaf) bool) string {
	is := l.Kind
	for _, l.Kind = range ledger.Kinds() {
		if was(l) {
			return fmt.Sprintf("its kind was %s and is %s", l.Kind, is)
		}
	}
	return ""
}

func (x *explainer) tryMemo(l ledger.Leaf, was func(ledger.Leaf) bool) string {
	is := l.Memo
	memos := []string{""}
	for _, n := range x.nearby {
		memos = append(memos, n.Memo)
	}
	for _, l.Memo = range memos {
		if was(l) {
			return fmt.Sprintf("its memo was %q and is %q", l.Memo, is)
		}
	}
	return ""
}

func (x *explainer) tryTimes(l ledger.Leaf, was func(ledger.Leaf) bool) string {
	moments := func(is time.Time) []time.Time {
		list := []time.Time{l.Recorded}
		for _, n := range x.nearby {
			list = append(list, n.Effective, n.Recorded)
		}
		for days := 1; days <= 400; days++ {
			list = append(list, is.AddDate(0, 0, days), is.AddDate(0, 0, -days))
		}
		for hours := 1; hours < 48; hours++ {
			list = append(list, is.Add(time.Duration(hours)*time.Hour), is.Add(-time.Duration(hours)*time.Hour))
		}
		return list
	}
	other := l
	for _, other.Effective = range moments(l.Effective) {
		if was(other) {
			return fmt.Sprintf("its effective time was %s and is %s", other.Effective.Format(time.RFC3339Nano), l.Effective.Format(time.RFC3339Nano))
		}
	}
	other = l
	for _, other.Recorded = range moments(l.Recorded) {
		if was(other) && !other.Recorded.Equal(l.Recorded) {
			return fmt.Sprintf("its recorded time was %s and is %s", other.Recorded.Format(time.RFC3339Nano), l.Recorded.Format(time.RFC3339Nano))
		}
	}
	return ""
}

func (x *explainer) tryReferences(l ledger.Leaf, was func(ledger.Leaf) bool) string {
	transactions, reversed := []ident.Transaction{{}}, []uuid.UUID{uuid.Nil}
	for _, n := range x.nearby {
		transactions, reversed = append(transactions, n.Transaction), append(reversed, n.ID)
	}
	other := l
	for _, other.Transaction = range transactions {
		if was(other) {
			return fmt.Sprintf("its transaction was %s and is %s", orNone(other.Transaction.IsZero(), other.Transaction), orNone(l.Transaction.IsZero(), l.Transaction))
		}
	}
	other = l
	for _, other.Reverses = range reversed {
		if was(other) {
			return fmt.Sprintf("it reversed %s and says %s", orNone(other.Reverses == uuid.Nil, other.Reverses), orNone(l.Reverses == uuid.Nil, l.Reverses))
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

func (x *explainer) tryAmount(l ledger.Leaf, was func(ledger.Leaf) bool) string {
	for i, is := range l.Entries {
		l.Entries = slices.Clone(l.Entries)
		try := func(amount int64) bool {
			l.Entries[i].Amount = amount
			return amount > 0 && amount != is.Amount && was(l)
		}
		for _, amount := range x.candidateAmounts(is.Amount) {
			if try(amount) {
				return fmt.Sprintf("the amount of entry %d was %d %s and is %d", i+1, amount, is.Currency, is.Amount)
			}
		}
		l.Entries[i] = is
	}
	return ""
}

// candidateAmounts are those that one may have been made of.
func (x *explainer) candidateAmounts(is int64) (list []int64) {
	for _, n := range x.nearby {
		for _, e := range n.Entries {
			list = append(list, e.Amount)
		}
	}
	for by := int64(10); by <= 1_000_000_000; by *= 10 {
		list = append(list, is/by)
		if is <= ledger.MaxAmount/by {
			list = append(list, is*by)
		}
		for digit := int64(1); digit < 10; digit++ { // one digit was another
			list = append(list, is+digit*by, is-digit*by)
		}
	}
	for by := int64(1); by <= 1_000; by++ {
		list = append(list, is+by, is-by)
	}
	return list
}

func (x *explainer) tryAccount(l ledger.Leaf, was func(ledger.Leaf) bool) string {
	for i, is := range l.Entries {
		l.Entries = slices.Clone(l.Entries)
		if l.Entries[i].Debit, l.Entries[i].Credit = is.Credit, is.Debit; was(l) {
			return fmt.Sprintf("entry %d was %s → %s and is the other way round", i+1, is.Credit, is.Debit)
		}
		l.Entries[i] = is
		for _, path := range x.accountPaths(is.Currency) {
			if l.Entries[i].Debit = path; was(l) {
				return fmt.Sprintf("entry %d debited %s and says %s", i+1, path, is.Debit)
			}
			l.Entries[i].Debit = is.Debit
			if l.Entries[i].Credit = path; was(l) {
				return fmt.Sprintf("entry %d credited %s and says %s", i+1, path, is.Credit)
			}
			l.Entries[i].Credit = is.Credit
		}
	}
	return ""
}

func (x *explainer) tryExtraEntry(l ledger.Leaf, was func(ledger.Leaf) bool) string {
	entries := l.Entries
	for i := len(entries) - 1; i >= 0; i-- {
		if l.Entries = slices.Delete(slices.Clone(entries), i, i+1); was(l) {
			return fmt.Sprintf("entry %d was not there", i+1)
		}
	}
	return ""
}
