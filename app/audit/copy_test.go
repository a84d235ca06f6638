package audit_test

import (
	"strings"
	"testing"

	"causeway/app/audit"
)

func TestVerify_CopyLacksWhatWasPublishedSince(t *testing.T) {
	t.Parallel()
	// A copy from before the last postings, or before the last checkpoint was stored, agrees with the checkpoints that were published
	// since, and the report counts what they cover. An earlier one that was removed, and postings that were changed, are found all the
	// same. A log that is no copy must have all that was published.
	for name, c := range map[string]struct {
		damage    string
		rewind    bool
		notCopy   bool
		unreached int64
		found     string // by the published checkpoints; empty for nothing
	}{
		"all": {damage: "SELECT 1"},
		"ten postings": {damage: deletePostingsSQL("seq > 1213") + "; " + recomputeBalancesSQL + "; " + setClockSQL("1213"), rewind: true,
			unreached: 10},
		"a checkpoint": {damage: "SELECT 1", rewind: true},
		"of no copy":   {damage: "SELECT 1", rewind: true, notCopy: true, found: "is missing among the stored checkpoints"},
		"an earlier checkpoint": {damage: `DELETE FROM ledger_log_checkpoints WHERE size = 1213;
			UPDATE ledger_log_checkpoints SET previous_size = 1208 WHERE size = 1223`, found: "is missing among the stored checkpoints"},
		"a posting": {damage: deletePostingsSQL("seq = 900"), found: "does not match the postings"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newSealedEnv(t)
			damage := dropConstraintsSQL + c.damage
			if c.rewind {
				damage += "; " + env.rewindLogSQL()
			}
			env.execAsSuperuser(damage)

			report, err := env.newService(checkDelivered).Verify(t.Context(), audit.VerifyOptions{Published: env.publishedCheckpoints(),
				OfCopy: !c.notCopy})
			if err != nil {
				t.Fatal(err)
			}

			if report.Unreached != c.unreached {
				t.Errorf("%d postings are not reached, want %d", report.Unreached, c.unreached)
			}
			var found []string
			for _, f := range report.Findings {
				if f.Rule == audit.RulePublishedCheckpoints {
					found = append(found, f.Message)
				}
			}
			if text := strings.Join(found, "\n"); (text == "") != (c.found == "") || !strings.Contains(text, c.found) {
				t.Errorf("found %q, want %q", text, c.found)
			}
		})
	}
}
