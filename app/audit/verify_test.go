package audit_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"causeway/app/audit"
	"causeway/core/ident"
)

func TestVerify_ValidLedger(t *testing.T) {
	t.Parallel()
	// An unchanged sealed ledger has no findings, also with postings that are not sealed yet, and
	// the report counts everything that was checked.
	env := newSealedEnv(t)
	env.mustPost(env.deposit(newInternalAccountID(), 1))

	report := env.verify()

	for _, f := range report.Findings {
		t.Error(f)
	}
	for rule, want := range map[audit.Rule]int64{
		audit.RuleUnchanged: 1224, audit.RuleSealed: 1223, audit.RuleSignedCheckpoints: 3, audit.RulePublishedCheckpoints: 3,
	} {
		for _, r := range report.Rules {
			if r.Rule == rule && r.Checked != want {
				t.Errorf("%s: %d %s, want %d", rule, r.Checked, r.Unit, want)
			}
		}
	}
}

func TestVerify_OfOnePlatform(t *testing.T) {
	t.Parallel()
	// The verification of one platform counts and reports the same, whatever other platforms have and whatever
	// is wrong there.
	env := newSealedEnv(t)
	alone := env.verify()
	other := env.NewPlatform()
	posting := env.deposit(newInternalAccountID(), 1)
	posting.Platform = other.ID
	env.mustPost(posting)
	env.seal()
	env.execAsSuperuser("UPDATE ledger_postings SET memo = 'changed' WHERE platform_id = '" + other.ID.UUID().String() + "'")

	options := audit.VerifyOptions{Published: env.publishedCheckpoints()}
	of := func(p ident.Platform) audit.Report {
		report, err := env.newService(checkDelivered).Of(p).Verify(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}

	if report := of(env.platform); !reflect.DeepEqual(report, alone) {
		t.Errorf("reported\n%+v\nand alone\n%+v", report, alone)
	}
	if report := of(other.ID); report.Clean() || strings.Contains(fmt.Sprint(report.Findings), env.platform.String()) {
		t.Errorf("of the changed one: %v", report.Findings)
	}
}

// tamperings are changes of the tables by a superuser. With fits, the digests of those postings
// and the balances are recomputed so that they match the change.
var tamperings = map[string]struct {
	damage string
	fits   []int64
	rewind bool // the stored log is reset to before the newest ten postings
	rule   audit.Rule
	want   string
}{
	"an amount": {damage: "UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 1211",
		rule: audit.RuleUnchanged, want: "number 1211 on"},
	"an amount, explained": {damage: "UPDATE ledger_entries SET amount = amount * 10 WHERE seq = 1211",
		rule: audit.RuleUnchanged, want: "the amount of entry 1 was 1000 USD and is 10000"},
	"an amount and the digest": {damage: "UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 900", fits: []int64{900},
		rule: audit.RuleSealed, want: "number 900 on PlatformConfig"},
	"an amount and the digest, explained": {damage: "UPDATE ledger_entries SET amount = amount + 41 WHERE seq = 900", fits: []int64{900},
		rule: audit.RuleSealed, want: "the amount of entry 1 was 1 USD and is 42"},
	"an amount, found by a checkpoint": {damage: "UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 1211", fits: []int64{1211},
		rule: audit.RuleSignedCheckpoints, want: "the one of size 1208 matches, so the first change is after number 1208"},
	"an amount, found by a published checkpoint": {damage: "UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 1211",
		fits: []int64{1211},
		rule: audit.RulePublishedCheckpoints, want: "(published.checkpoints, line 7) does not match the postings"},
	"an account": {damage: "UPDATE ledger_entries SET credit_account_id = (SELECT id FROM ledger_accounts WHERE path = 'income/fees') WHERE " +
		"seq = 7",
		rule: audit.RuleUnchanged, want: "entry 1 credited chains/LAYER2 and credits income/fees"},
	"an account and the digest": {damage: "UPDATE ledger_entries SET credit_account_id = (SELECT id FROM ledger_accounts WHERE path = " +
		"'transit/payouts' AND currency = 'BTC') WHERE seq = 5", fits: []int64{5},
		rule: audit.RuleSealed, want: "entry 1 credited funding/jit and credits transit/payouts"},
	"swapped accounts": {damage: "UPDATE ledger_entries SET debit_account_id = credit_account_id, credit_account_id = debit_account_id " +
		"WHERE seq = 1214", fits: []int64{1214},
		rule: audit.RuleSealed, want: "and has been swapped"},
	"a memo": {damage: "UPDATE ledger_postings SET memo = 'nothing to see' WHERE seq = 900",
		rule: audit.RuleUnchanged, want: `its memo was "" and is "nothing to see"`},
	"a memo and the digest": {damage: "UPDATE ledger_postings SET memo = 'nothing to see' WHERE seq = 900", fits: []int64{900},
		rule: audit.RuleSealed, want: `its memo was "" and is "nothing to see"`},
	"an effective date": {damage: "UPDATE ledger_postings SET effective_at = effective_at - interval '30 days' WHERE seq = 900",
		rule: audit.RuleUnchanged, want: "its effective time was 2026-11-20T12:00:00Z and is 2026-10-21T12:00:00Z"},
	"an effective date and the digest": {damage: "UPDATE ledger_postings SET effective_at = effective_at - interval '30 days' WHERE seq = 900",
		fits: []int64{900},
		rule: audit.RuleSealed, want: "its effective time was 2026-11-20T12:00:00Z and is 2026-10-21T12:00:00Z"},
	"a recorded time": {damage: "UPDATE ledger_postings SET recorded_at = recorded_at + interval '1 hour' WHERE seq = 1223; UPDATE " +
		"ledger_clocks SET recorded_at = recorded_at + interval '1 hour'",
		rule: audit.RuleSealed, want: "its recorded time was 2026-11-20T12:00:00"},
	"a kind": {damage: "UPDATE ledger_postings SET kind = 'transfer_in' WHERE seq = 1211", fits: []int64{1211},
		rule: audit.RuleSealed, want: "its kind was deposit and is transfer_in"},
	"a transaction": {damage: "UPDATE ledger_postings SET transaction_id = NULL WHERE seq = 7", fits: []int64{7},
		rule: audit.RuleSealed, want: "and is none"},
	"what it reverses": {damage: "UPDATE ledger_postings SET kind = 'reversal', reverses = (SELECT id FROM ledger_postings WHERE seq = 3) " +
		"WHERE seq = 4", fits: []int64{4},
		rule: audit.RuleSealed, want: "number 4 on"},
	"a balance": {damage: "UPDATE ledger_balances SET balance = balance + 1000000",
		rule: audit.RuleNoOverdraft, want: "; its entries add up to"},
	"a balance without an account": {damage: "INSERT INTO ledger_balances SELECT platform_id, 999999, 5 FROM ledger_clocks",
		rule: audit.RuleNoOverdraft, want: "of account 999999, which does not exist"},
	"a balance snapshot": {damage: "UPDATE ledger_balance_snapshots SET balance = balance + 1",
		rule: audit.RuleBalanceSnapshots, want: "its entries add up to"},
	"the progress of balance snapshots": {damage: "UPDATE ledger_snapshot_progress SET seq = 5000",
		rule: audit.RuleBalanceSnapshots, want: "have progressed to number 5000, but the clock is at 1223"},
	"a deleted entry": {damage: "DELETE FROM ledger_entries WHERE seq = 6 AND entry_no = 3",
		rule: audit.RuleUnchanged, want: "number 6 on"},
	"a deleted entry and the digest": {damage: "DELETE FROM ledger_entries WHERE seq = 6 AND entry_no = 3", fits: []int64{6},
		rule: audit.RuleSealed, want: "converted, number 6 on"},
	"an added entry": {damage: "INSERT INTO ledger_entries SELECT platform_id, seq, recorded_at, debit_account_id, credit_account_id, " +
		"amount, 2, currency FROM ledger_entries WHERE seq = 1211", fits: []int64{1211},
		rule: audit.RuleSealed, want: "entry 2 was added"},
	"a deleted posting": {damage: deletePostingsSQL("seq = 900") + "; " + recomputeBalancesSQL,
		rule: audit.RuleSealed, want: "1 sealed postings are missing on PlatformConfig"},
	"a deleted posting, found by a checkpoint": {damage: deletePostingsSQL("seq = 900") + "; " + recomputeBalancesSQL,
		rule: audit.RuleSignedCheckpoints, want: "posting number 900 is missing"},
	"the newest ten deleted": {damage: deletePostingsSQL("seq > 1213") + "; " + recomputeBalancesSQL + "; " + setClockSQL("1213"),
		rule: audit.RuleSealed, want: "the newest 10 postings are missing on PlatformConfig"},
	"the newest ten deleted, found by a checkpoint": {damage: deletePostingsSQL("seq > 1213") + "; " + recomputeBalancesSQL + "; " +
		setClockSQL("1213"),
		rule: audit.RuleSignedCheckpoints, want: "the newest 10 postings are missing on PlatformConfig"},
	"the newest ten deleted from the log too": {damage: deletePostingsSQL("seq > 1213") + "; " + recomputeBalancesSQL + "; " +
		setClockSQL("1213"), rewind: true,
		rule: audit.RulePublishedCheckpoints, want: "the newest 10 postings are missing on PlatformConfig"},
	"the newest ten replaced": {damage: deletePostingsSQL("seq > 1213") + "; " + recomputeBalancesSQL + "; " + setClockSQL("1213") + "; " +
		insertCopiesSQL(1214, 1223, 1211), rewind: true,
		fits: []int64{1214, 1215, 1216, 1217, 1218, 1219, 1220, 1221, 1222, 1223},
		rule: audit.RulePublishedCheckpoints, want: "the checkpoint of size 1223 of PlatformConfig"},
	"an inserted posting": {damage: renumberFromSQL("1210") + "; " + insertCopiesSQL(1210, 1210, 1211), fits: []int64{1210},
		rule: audit.RuleSealed, want: "number 1210 on"},
	"an inserted posting, the next ones renumbered": {damage: renumberFromSQL("1210") + "; " + insertCopiesSQL(1210, 1210, 1211),
		fits: []int64{1210},
		rule: audit.RuleSealed, want: "is not what was sealed: it was sealed as number 1222"},
	"an appended posting": {damage: insertCopiesSQL(1224, 1224, 1211), fits: []int64{1224},
		rule: audit.RuleSequence, want: "the clock of"},
	"a negative number": {damage: insertCopiesSQL(-5, -5, 1211), fits: []int64{-5},
		rule: audit.RuleSealed, want: "has number -5, which was sealed with another posting"},
	"two swapped": {damage: swapPostingsSQL("1210", "1216"),
		rule: audit.RuleSealed, want: "it was sealed as number 1216"},
	"a hash of the log": {
		damage: `UPDATE ledger_log_tiles SET hashes = set_byte(hashes, 32, get_byte(hashes, 32) # 1) WHERE level = 0 AND tile_index = 1`,
		rule:   audit.RuleSealed, want: "the log's hash of posting number 258"},
	"hashes of the log": {damage: `DELETE FROM ledger_log_tiles WHERE level = 0 AND tile_index = 1`,
		rule: audit.RuleSealed, want: "has no hashes around number 257"},
	"the partial tiles of the log": {
		damage: `UPDATE ledger_log_state SET partial_tiles = set_byte(partial_tiles, length(partial_tiles) - 1, get_byte(partial_tiles, length(partial_tiles) - 1) # 1)`,
		rule:   audit.RuleSealed, want: "wrong hashes in its partial tiles"},
	"a stored checkpoint": {damage: `UPDATE ledger_log_checkpoints SET root_hash = sha256(root_hash) WHERE size = 1213`,
		rule: audit.RuleSignedCheckpoints, want: "its signed note has another content"},
	"a deleted checkpoint": {damage: `DELETE FROM ledger_log_checkpoints WHERE size = 1223`,
		rule: audit.RuleSignedCheckpoints, want: "has size 1223, but its last checkpoint has size 1213"},
	"the first checkpoint deleted": {damage: `DELETE FROM ledger_log_checkpoints WHERE size = 1208`,
		rule: audit.RuleSignedCheckpoints, want: "the checkpoint of size 1208 of PlatformConfig"},
	"a checkpoint in the middle deleted": {damage: `DELETE FROM ledger_log_checkpoints WHERE size = 1213`,
		rule: audit.RuleSignedCheckpoints, want: "is missing: the one of size 1223 was sealed after it"},
	"a checkpoint deleted from the chain too": {
		damage: `DELETE FROM ledger_log_checkpoints WHERE size = 1213; UPDATE ledger_log_checkpoints SET previous_size = 1208 WHERE size = 1223`,
		rule:   audit.RulePublishedCheckpoints, want: "(published.checkpoints, line 7) is missing among the stored checkpoints"},
	"the newest checkpoint deleted and the log rewound": {damage: "SELECT 1", rewind: true,
		rule: audit.RulePublishedCheckpoints, want: "(published.checkpoints, line 13) is missing among the stored checkpoints"},
	"a checkpoint inserted": {
		damage: `INSERT INTO ledger_log_checkpoints SELECT platform_id, 1210, sealed_at, root_hash, signed_note, 1208 FROM ledger_log_checkpoints WHERE size = 1208`,
		rule:   audit.RuleSignedCheckpoints, want: "the checkpoint of size 1210 of PlatformConfig"},
	"a checkpoint of a closed month": {damage: closeMonthSQL("replace(signed_note, E'\\n1208\\n', E'\\n1209\\n')"),
		rule: audit.RuleSignedCheckpoints, want: "(recorded with the closing of 2026-10): invalid signature"},
	"a checkpoint of a closed month, of another log": {damage: closeMonthSQL("replace(signed_note, substr(signed_note, 17, 36), " +
		"'01900000-0000-7000-8000-000000000001')"),
		rule: audit.RuleSignedCheckpoints, want: "what was recorded with the closing of 2026-10 on PlatformConfig"},
	"an invalid checkpoint of a closed month": {damage: closeMonthSQL("'none'"),
		rule: audit.RuleSignedCheckpoints, want: "what was recorded with the closing of 2026-10 on PlatformConfig"},
	"a key": {damage: `UPDATE ledger_log_keys SET public_key = sha256(public_key)`,
		rule: audit.RuleSignedCheckpoints, want: "not signed with a key of the log"},
	"everything": {
		damage: `DELETE FROM ledger_postings; DELETE FROM ledger_entries; DELETE FROM ledger_balances; DELETE FROM ledger_balance_snapshots; DELETE FROM ledger_accounts;
			DELETE FROM ledger_clocks; DELETE FROM ledger_snapshot_progress; DELETE FROM ledger_log_state; DELETE FROM ledger_log_checkpoints; DELETE FROM ledger_log_tiles`,
		rule: audit.RulePublishedCheckpoints, want: "the newest 1223 postings are missing"},
}

// closeMonthSQL closes a month without postings and records a checkpoint with it.
func closeMonthSQL(checkpoint string) string {
	return `INSERT INTO ledger_closings (platform_id, month, closed_at, note, seq, digest, next_month_seq, log_checkpoint)
		SELECT platform_id, '2026-10-01', now(), '', 1208, (SELECT digest FROM ledger_postings WHERE seq = 1208), 1, ` + checkpoint +
		` FROM ledger_log_checkpoints WHERE size = 1208;
		INSERT INTO ledger_period_changes (platform_id, month, action, changed_at, note)
		SELECT platform_id, '2026-10-01', action, '2026-11-25Z', '' FROM ledger_clocks, unnest(ARRAY['soft-close', 'close']) action;
		UPDATE ledger_clocks SET closed_before = '2026-11-01', soft_closed_before = '2026-11-01'`
}

func TestVerify_ChecksCheckpointOfClosedMonth(t *testing.T) {
	t.Parallel()
	// The checkpoint that was recorded with a closed month is compared with the postings like any
	// other, and matches.
	env := newSealedEnv(t)
	env.execAsSuperuser(dropConstraintsSQL + closeMonthSQL("signed_note"))

	report := env.verify()

	for _, f := range report.Findings {
		t.Error(f)
	}
	for _, r := range report.Rules {
		if r.Rule == audit.RuleSignedCheckpoints && r.Checked != 4 {
			t.Errorf("%d %s, want 4", r.Checked, r.Unit)
		}
	}
}

func deletePostingsSQL(which string) string {
	return "DELETE FROM ledger_postings WHERE " + which + "; DELETE FROM ledger_entries WHERE " + which
}

func setClockSQL(seq string) string {
	return "UPDATE ledger_clocks SET seq = " + seq + ", recorded_at = (SELECT recorded_at FROM ledger_postings WHERE seq = " + seq + ")"
}

// insertCopiesSQL inserts copies of a posting with new numbers.
func insertCopiesSQL(from, to, like int) string {
	return strings.NewReplacer("$from", strconv.Itoa(from), "$to", strconv.Itoa(to), "$like", strconv.Itoa(like)).Replace(`
		INSERT INTO ledger_postings (platform_id, id, seq, kind, effective_at, recorded_at, memo, digest)
		SELECT platform_id, gen_random_uuid(), n, kind, effective_at, recorded_at + (n - seq) * interval '1 microsecond', memo, digest
		FROM ledger_postings, generate_series($from, $to) n WHERE seq = $like;
		INSERT INTO ledger_entries SELECT platform_id, s, recorded_at, debit_account_id, credit_account_id, amount, entry_no, currency
		FROM ledger_entries, generate_series($from, $to) s WHERE seq = $like`)
}

// renumberFromSQL increments all numbers from one on.
func renumberFromSQL(seq string) string {
	return `UPDATE ledger_postings SET seq = -seq WHERE seq >= ` + seq + `; UPDATE ledger_postings SET seq = 1 - seq WHERE seq < 0;
		UPDATE ledger_entries SET seq = -seq WHERE seq >= ` + seq +
		`; UPDATE ledger_entries SET seq = 1 - seq WHERE seq < 0; UPDATE ledger_clocks SET seq = seq + 1`
}

// swapPostingsSQL swaps the numbers and recorded times of two postings.
func swapPostingsSQL(a, b string) string {
	return strings.NewReplacer("$a", a, "$b", b).Replace(`
		UPDATE ledger_postings p SET seq = -p.seq, recorded_at = (SELECT o.recorded_at FROM ledger_postings o WHERE o.seq = $a + $b - p.seq) WHERE p.seq IN ($a, $b);
		UPDATE ledger_postings SET seq = $a + $b + seq WHERE seq < 0;
		UPDATE ledger_entries SET seq = -seq WHERE seq IN ($a, $b); UPDATE ledger_entries SET seq = $a + $b + seq WHERE seq < 0`)
}

func TestVerify_FindsTampering(t *testing.T) {
	t.Parallel()
	// Every change made to the tables without the service is found and named, also if digests and
	// balances were recomputed; if the log was recomputed too, an earlier published checkpoint
	// does not match.
	for name, c := range tamperings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newSealedEnv(t)
			damage := dropConstraintsSQL + c.damage
			if c.rewind {
				damage += "; " + env.rewindLogSQL()
			}
			env.execAsSuperuser(damage)
			if len(c.fits) > 0 {
				env.recomputeDigests(c.fits...)
			}

			report := env.verify()

			for _, f := range report.Findings {
				if f.Rule == c.rule && strings.Contains(f.Message, c.want) {
					return
				}
			}
			t.Errorf("want a finding of %q with %q, found", c.rule, c.want)
			for _, f := range report.Findings {
				t.Log(f)
			}
		})
	}
}

func TestVerify_RebuiltLogContradictsPublishedCheckpoints(t *testing.T) {
	t.Parallel()
	// After an amount is changed and the complete log is computed and signed again, everything
	// stored matches, and only the published checkpoints do not.
	env := newSealedEnv(t)
	env.execAsSuperuser("UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 900; UPDATE ledger_balance_snapshots SET balance = " +
		"balance + 1 WHERE seq >= 900; " +
		"DELETE FROM ledger_log_tiles; DELETE FROM ledger_log_checkpoints; DELETE FROM ledger_log_state")
	env.recomputeDigests(900)
	outside := env.publishedCheckpoints()
	env.seal()

	inside, err := env.newService(checkDelivered).Verify(t.Context(), audit.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := env.newService(checkDelivered).Verify(t.Context(), audit.VerifyOptions{Published: outside})
	if err != nil {
		t.Fatal(err)
	}

	for _, f := range inside.Findings {
		if f.Rule == audit.RuleSealed || f.Rule == audit.RuleSignedCheckpoints || f.Rule == audit.RuleUnchanged {
			t.Errorf("found inside: %s", f)
		}
	}
	found := false
	for _, f := range report.Findings {
		found = found || f.Rule == audit.RulePublishedCheckpoints && strings.Contains(f.Message, "does not match the postings: no earlier one "+
			"matches")
	}
	if !found {
		t.Errorf("no published checkpoint differs: %v", report.Findings)
	}
}

func TestVerifyExport_ValidAndTampered(t *testing.T) {
	t.Parallel()
	// An export is verified against a checkpoint without a database. The same postings have the
	// same bytes; every change of the file and every missing line is found.
	env := newSealedEnv(t)
	var complete, again, part bytes.Buffer
	for out, upto := range map[*bytes.Buffer]int64{&complete: 0, &again: 1223, &part: 1213} {
		if _, err := env.newService(nil).ExportLog(t.Context(), env.platform, upto, out, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(complete.Bytes(), again.Bytes()) {
		t.Error("two exports of the same postings differ")
	}
	keys, err := env.logService.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	against := audit.VerifyOptions{Published: env.publishedCheckpoints(), Keys: [][32]byte{keys[0].Public}}
	last := against
	last.Published = last.Published[:2]

	lines := strings.SplitAfter(complete.String(), "\n")
	swapped := append([]string{}, lines...)
	swapped[1210], swapped[1216] = swapped[1216], swapped[1210]
	for name, c := range map[string]struct {
		export  string
		against audit.VerifyOptions
		finding string // in the report; none if empty
		err     string
	}{
		"complete":            {export: complete.String(), against: against},
		"earlier checkpoints": {export: complete.String(), against: last},
		"up to a checkpoint":  {export: part.String(), against: last},
		"a later checkpoint":  {export: part.String(), against: against, finding: "the newest 10 postings are missing"},
		"no signature":        {export: complete.String(), against: audit.VerifyOptions{Published: env.publishedCheckpoints()}},
		"another key": {export: complete.String(), against: audit.VerifyOptions{Published: env.publishedCheckpoints(),
			Keys: [][32]byte{{1}}}, finding: "not signed with a key of the log"},
		"a forged checkpoint": {export: complete.String(), against: audit.VerifyOptions{Published: forgeLastCheckpoint(env),
			Keys: against.Keys}, finding: "invalid signature"},
		"an amount": {export: strings.Replace(complete.String(), `"amount":"7"`, `"amount":"8"`, 1), against: against,
			finding: "the one of size 1213 matches"},
		"a date": {export: strings.Replace(complete.String(), `"effective":"2026-11-20`, `"effective":"2026-10-20`, 1),
			against: against, finding: "does not match the postings: no earlier one matches"},
		"the file's own root": {export: changeRoot(complete.String()), against: against, finding: "changed after it was written"},
		"a deleted line": {export: strings.Join(append(append([]string{}, lines[:900]...), lines[901:]...), ""), against: against,
			finding: "1 postings are missing"},
		"lines swapped": {export: strings.Join(swapped, ""), against: against, finding: "postings are missing"},
		"a duplicate line": {export: strings.Join(append(append([]string{}, lines[:900]...), lines[899:]...), ""), against: against,
			finding: "has number 899, which is not a valid number or already used"},
		"truncated":           {export: strings.Join(lines[:900], ""), against: against, err: "truncated after line 900"},
		"truncated in a line": {export: complete.String()[:complete.Len()-5], against: against, err: "truncated after line 1224"},
		"something after":     {export: complete.String() + "{}\n", against: against, err: "continues after its trailer"},
		"another file":        {export: "date,amount\n", against: against, err: "not an export of a log"},
		"nothing":             {against: against, err: "not an export of a log"},
		"a broken line": {export: strings.Replace(complete.String(), `{"seq":7,`, `{"seq":7,,`, 1), against: against,
			err: "line 8 of the export is not a posting"},
		"an unknown field": {export: strings.Replace(complete.String(), `{"seq":7,`, `{"seq":7,"x":1,`, 1), against: against,
			err: "unknown field"},
		"a fraction": {export: strings.Replace(complete.String(), `"amount":"7"`, `"amount":"7.5"`, 1), against: against,
			err: "not an integer"},
		"a time that is none": {export: strings.Replace(complete.String(), `"effective":"2026`, `"effective":"x026`, 1), against: against,
			err: "effective:"},
		"a checkpoint of another log": {export: complete.String(),
			against: audit.VerifyOptions{Published: withOtherPlatforms(env.publishedCheckpoints())}, err: "no checkpoint is of"},
	} {
		report, err := audit.VerifyExport(t.Context(), strings.NewReader(c.export), c.against)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: want the error to say %q, got %v", name, c.err, err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case c.finding == "":
			for _, f := range report.Findings {
				t.Errorf("%s: %s", name, f)
			}
		default:
			found := false
			for _, f := range report.Findings {
				found = found || strings.Contains(f.Message, c.finding)
			}
			if !found {
				t.Errorf("%s: want %q, found %v", name, c.finding, report.Findings)
			}
		}
	}
}

// changeRoot changes one letter of the root in the last line of an export.
func changeRoot(export string) string {
	const mark = `"root":"`
	position := strings.LastIndex(export, mark) + len(mark)
	letter := "A"
	if export[position:position+1] == letter {
		letter = "B"
	}
	return export[:position] + letter + export[position+1:]
}

// forgeLastCheckpoint returns the published checkpoints, the last with another size under the
// same signature.
func forgeLastCheckpoint(e *sealedEnv) []audit.PublishedCheckpoint {
	list := e.publishedCheckpoints()
	last := &list[len(list)-1]
	before := last.Text()
	last.Size--
	last.Note = strings.Replace(last.Note, before, last.Text(), 1)
	return list
}

func withOtherPlatforms(list []audit.PublishedCheckpoint) []audit.PublishedCheckpoint {
	for i := range list {
		list[i].Platform.SetUUID(newID())
	}
	return list
}
