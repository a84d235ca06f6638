package transaction

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"causeway/ledger"
)

// CheckKinds returns an error unless a transaction can be in state s, and posted are the kinds of postings that
// it must have in it. The assignment of unmatched funds counts as the posting that received them.
func (f Flow) CheckKinds(s State, posted []ledger.Kind) error {
	if !f.canBe(s) {
		return fmt.Errorf("is %s with its funds %s and the reason %q, which no %s transaction can be", s, cmp.Or(s.Stage, "not moved"),
			s.Reason, f.Type)
	}
	want, got := f.Kinds(s), slices.Clone(posted)
	if i := slices.Index(got, ledger.KindUnmatchedAssigned); i >= 0 && f.Funding == JustInTime {
		got[i] = f.fundingKind()
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

// canBe reports whether a transaction with this flow can be in a state, by the transitions of the state machines.
func (f Flow) canBe(s State) bool {
	if s.Reason != "" && s.Status != Failed {
		return false
	}
	s.Reason = ""
	if f.Type == Incoming {
		if refunded := (State{Status: Failed, Refund: s.Refund, Stage: Received}); f.Invoiced && s.Refund != NoRefund {
			return s == refunded
		}
		return s == Initial || s == (State{Status: Failed}) || s == (State{Status: Completed, Stage: Delivered})
	}
	_, possible := outgoingStates[s]
	return possible
}

// outgoingStates are the states that the transitions lead to, without their reasons.
var outgoingStates = func() map[State]struct{} {
	found := map[State]struct{}{}
	var follow func(State)
	follow = func(s State) {
		if _, known := found[s]; known {
			return
		}
		found[s] = struct{}{}
		for _, event := range Events {
			if next, err := s.Next(event, ""); err == nil {
				follow(next)
			}
		}
	}
	follow(Initial)
	follow(TransferInitial)
	return found
}()
