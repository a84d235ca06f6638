package transaction

import (
	"fmt"
	"slices"
	"strings"

	"causeway/ledger"
)

// CheckKinds checks that the kinds of the postings of a transaction are those that it must have in its
// state, and returns an error that says which are not. Unmatched funds are received by their
// assignment.
func (w Flow) CheckKinds(s State, posted []ledger.Kind) error {
	want, got := w.Kinds(s), slices.Clone(posted)
	if i := slices.Index(got, ledger.KindUnmatchedAssigned); i >= 0 && w.Funding == JustInTime {
		got[i] = w.fundingKind()
	}
	slices.Sort(want)
	slices.Sort(got)
	if slices.Equal(want, got) {
		return nil
	}
	return fmt.Errorf("is %s and should have the postings [%s], but has [%s]", s, joinKinds(want), joinKinds(got))
}

func joinKinds(kinds []ledger.Kind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, " ")
}
