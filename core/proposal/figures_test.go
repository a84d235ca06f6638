package proposal_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/proposal"
)

func TestProposal_Carried(t *testing.T) {
	t.Parallel()
	// An approval that comes to the figures of the proposal is carried out. One that comes to others is refused, with
	// what has changed, and so is one that changes nothing.
	const proposed = `{"kind": "revaluation", "realised": 9007199254740993, "lines": [{"currency": "EUR", "value": 5}]}`
	for name, test := range map[string]struct {
		made, before, now string
		reason, message   string // empty: carried out
	}{
		"the same": {"2026-10", proposed, proposed, "", ""},
		"another order": {"2026-10", proposed, `{"lines":[{"value":5,"currency":"EUR"}],"realised":9007199254740993,"kind":"revaluation"}`,
			"", ""},
		"without figures": {"2026-10", "", "", "", ""},
		"nothing made":    {"", proposed, proposed, "Nothing to change", "already made"},
		"another amount": {"2026-10", proposed, strings.Replace(proposed, "0993", "0992", 1), "Figures changed",
			"realised was 9007199254740993 and is now 9007199254740992. "},
		"in a list": {"2026-10", proposed, strings.Replace(proposed, "5}", "6}", 1), "Figures changed",
			"lines[0].value was 5 and is now 6. "},
		"one more line": {"2026-10", proposed, strings.Replace(proposed, "5}", `5}, {"value": 7}`, 1), "Figures changed",
			"lines[1].value is now 7. "},
		"one line less": {"2026-10", proposed, `{"kind": "revaluation", "realised": 9007199254740993, "lines": []}`, "Figures changed",
			"lines[0].currency was EUR; lines[0].value was 5. "},
		"many": {"2026-10", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`, `{}`, "Figures changed", "e was 1, and 2 more. "},
	} {
		p := proposal.Proposal{Figures: []byte(test.before)}
		carried, err := p.Carried(test.made, []byte(test.now))

		f, _ := fault.As(err)
		switch {
		case test.reason != "":
			if f == nil || f.Code != fault.Conflict || f.Reason != test.reason || !strings.Contains(f.Message, test.message) ||
				carried.Result != "" {
				t.Errorf("%s: %+v, %v", name, carried, err)
			}
		case err != nil || carried.Result != test.made:
			t.Errorf("%s: %+v, %v", name, carried, err)
		}
	}
}

func amountsJSON(amounts []int64) []byte {
	text, _ := json.Marshal(map[string]any{"amounts": append([]int64{}, amounts...)})
	return text
}

func TestProposal_CarriedOnlyWithEqualFigures(t *testing.T) {
	t.Parallel()
	// Whatever the figures are, they are accepted exactly if every value is the same.
	amounts := rapid.SliceOfN(rapid.Int64Range(-2, 2), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		before, now := amounts.Draw(t, "before"), amounts.Draw(t, "now")
		_, err := proposal.Proposal{Figures: amountsJSON(before)}.Carried("made", amountsJSON(now))

		if (err == nil) != (fmt.Sprint(before) == fmt.Sprint(now)) {
			t.Fatalf("%v and %v: %v", before, now, err)
		}
	})
}
