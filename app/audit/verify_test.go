package audit_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"causeway/app/audit"
	"causeway/core/ident"
)

func TestVerify_ValidLedger(t *testing.T) {
	t.Parallel()
	// Sealed books that nobody touched are found sound, also while newer postings wait to
	// be sealed, and the report says how much was held against what.
	v := newSealedEnv(t)
	v.mustPost(v.deposit(newInternalAccountID(), 1))

	report := v.verify()

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

// tamperings are done to the tables by somebody whom nothing stops. A tampering that
// fits digests covers its tracks in the postings it names and in the balances.
var tamperings = map[string]struct {
	damage string
	fits   []int64
	rewind bool // the log inside is made what it was before the newest ten postings
	rule   audit.Rule
	says   string
}{
	"an amount": {damage: "UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 1211",
		rule: audit.RuleUnchanged, says: "number 1211 on"},
	"an amount, told": {damage: "UPDATE ledger_entries SET amount = amount * 10 WHERE seq = 1211",
		rule: audit.RuleUnchanged, says: "the amount of entry 1 was 1000 USD and is 10000"},
	"an amount, to the digest": {damage: "UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 900", fits: []int64{900},
		rule: audit.RuleSealed, says: "number 900 on PlatformConfig"},
	"an amount, told by the log": {damage: "UPDATE ledger_entries SET amount = amount + 41 WHERE seq = 900", fits: []int64{900},
		rule: audit.RuleSealed, says: "the amount of entry 1 was 1 USD and is 42"},
	"an amount, by a head": {damage: "UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 1211", fits: []int64{1211},
		rule: audit.RuleSignedCheckpoints, says: "the one of size 1208 fits, so what is wrong comes after number 1208"},
	"an amount, by a head outside": {damage: "UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 1211", fits: []int64{1211},
		rule: audit.RulePublishedCheckpoints, says: "(outside.heads, line 7) does not fit the postings"},
	"an account": {damage: "UPDATE ledger_entries SET credit_account_id = (SELECT id FROM ledger_accounts WHERE path = 'income/fees') WHERE seq = 7",
		rule: audit.RuleUnchanged, says: "entry 1 credited chains/LAYER2 and says income/fees"},
	"an account, to the digest": {damage: "UPDATE ledger_entries SET credit_account_id = (SELECT id FROM ledger_accounts WHERE path = 'transit/payouts' AND currency = 'BTC') WHERE seq = 5", fits: []int64{5},
		rule: audit.RuleSealed, says: "entry 1 credited funding/jit and says transit/payouts"},
	"sides": {damage: "UPDATE ledger_entries SET debit_account_id = credit_account_id, credit_account_id = debit_account_id WHERE seq = 1214", fits: []int64{1214},
		rule: audit.RuleSealed, says: "and is the other way round"},
	"a memo": {damage: "UPDATE ledger_postings SET memo = 'nothing to see' WHERE seq = 900",
		rule: audit.RuleUnchanged, says: `its memo was "" and is "nothing to see"`},
	"a memo, to the digest": {damage: "UPDATE ledger_postings SET memo = 'nothing to see' WHERE seq = 900", fits: []int64{900},
		rule: audit.RuleSealed, says: `its memo was "" and is "nothing to see"`},
	"an effective date": {damage: "UPDATE ledger_postings SET effective_at = effective_at - interval '30 days' WHERE seq = 900",
		rule: audit.RuleUnchanged, says: "its effective time was 2026-11-20T12:00:00Z and is 2026-10-21T12:00:00Z"},
	"an effective date, to the digest": {damage: "UPDATE ledger_postings SET effective_at = effective_at - interval '30 days' WHERE seq = 900", fits: []int64{900},
		rule: audit.RuleSealed, says: "its effective time was 2026-11-20T12:00:00Z and is 2026-10-21T12:00:00Z"},
	"a recorded time": {damage: "UPDATE ledger_postings SET recorded_at = recorded_at + interval '1 hour' WHERE seq = 1223; UPDATE ledger_clocks SET recorded_at = recorded_at + interval '1 hour'",
		rule: audit.RuleSealed, says: "its recorded time was 2026-11-20T12:00:00"},
	"a kind": {damage: "UPDATE ledger_postings SET kind = 'transfer_in' WHERE seq = 1211", fits: []int64{1211},
		rule: audit.RuleSealed, says: "its kind was deposit and is transfer_in"},
	"a transaction": {damage: "UPDATE ledger_postings SET transaction_id = NULL WHERE seq = 7", fits: []int64{7},
		rule: audit.RuleSealed, says: "and is none"},
	"what it reverses": {damage: "UPDATE ledger_postings SET kind = 'reversal', reverses = (SELECT id FROM ledger_postings WHERE seq = 3) WHERE seq = 4", fits: []int64{4},
		rule: audit.RuleSealed, says: "number 4 on"},
	"a balance": {damage: "UPDATE ledger_balances SET balance = balance + 1000000",
		rule: audit.RuleNoOverdraft, says: "stored; its entries say"},
	"a balance of nothing": {damage: "INSERT INTO ledger_balances SELECT platform_id, 999999, 5 FROM ledger_clocks",
		rule: audit.RuleNoOverdraft, says: "of account 999999, which is not there"},
	"a checkpoint": {damage: "UPDATE ledger_balance_snapshots SET balance = balance + 1",
		rule: audit.RuleBalanceSnapshots, says: "its entries say"},
	"the work on checkpoints": {damage: "UPDATE ledger_snapshot_progress SET seq = 5000",
		rule: audit.RuleBalanceSnapshots, says: "says it is at number 5000, and the clock at 1223"},
	"an entry gone": {damage: "DELETE FROM ledger_entries WHERE seq = 6 AND entry_no = 3",
		rule: audit.RuleUnchanged, says: "number 6 on"},
	"an entry gone, to the digest": {damage: "DELETE FROM ledger_entries WHERE seq = 6 AND entry_no = 3", fits: []int64{6},
		rule: audit.RuleSealed, says: "converted, number 6 on"},
	"an entry too many": {damage: "INSERT INTO ledger_entries SELECT platform_id, seq, recorded_at, debit_account_id, credit_account_id, amount, 2, currency FROM ledger_entries WHERE seq = 1211", fits: []int64{1211},
		rule: audit.RuleSealed, says: "entry 2 was not there"},
	"a posting gone": {damage: deletePostingsSQL("seq = 900") + "; " + recomputeBalancesSQL,
		rule: audit.RuleSealed, says: "1 postings are missing on PlatformConfig"},
	"a posting gone, by a head": {damage: deletePostingsSQL("seq = 900") + "; " + recomputeBalancesSQL,
		rule: audit.RuleSignedCheckpoints, says: "there is no posting number 900"},
	"the newest ten gone": {damage: deletePostingsSQL("seq > 1213") + "; " + recomputeBalancesSQL + "; " + setClockSQL("1213"),
		rule: audit.RuleSealed, says: "the newest 10 postings are missing on PlatformConfig"},
	"the newest ten gone, by a head": {damage: deletePostingsSQL("seq > 1213") + "; " + recomputeBalancesSQL + "; " + setClockSQL("1213"),
		rule: audit.RuleSignedCheckpoints, says: "the newest 10 postings are missing on PlatformConfig"},
	"the newest ten gone, and the log cut to it": {damage: deletePostingsSQL("seq > 1213") + "; " + recomputeBalancesSQL + "; " + setClockSQL("1213"), rewind: true,
		rule: audit.RulePublishedCheckpoints, says: "the newest 10 postings are missing on PlatformConfig"},
	"the newest ten gone, others posted": {damage: deletePostingsSQL("seq > 1213") + "; " + recomputeBalancesSQL + "; " + setClockSQL("1213") + "; " + insertCopiesSQL(1214, 1223, 1211), rewind: true,
		fits: []int64{1214, 1215, 1216, 1217, 1218, 1219, 1220, 1221, 1222, 1223},
		rule: audit.RulePublishedCheckpoints, says: "the head of size 1223 of PlatformConfig"},
	"one inserted": {damage: renumberFromSQL("1210") + "; " + insertCopiesSQL(1210, 1210, 1211), fits: []int64{1210},
		rule: audit.RuleSealed, says: "number 1210 on"},
	"one inserted, those after it moved": {damage: renumberFromSQL("1210") + "; " + insertCopiesSQL(1210, 1210, 1211), fits: []int64{1210},
		rule: audit.RuleSealed, says: "is not what was sealed: it was sealed as number 1222"},
	"one inserted at the end": {damage: insertCopiesSQL(1224, 1224, 1211), fits: []int64{1224},
		rule: audit.RuleSequence, says: "the clock of"},
	"one below the first number": {damage: insertCopiesSQL(-5, -5, 1211), fits: []int64{-5},
		rule: audit.RuleSealed, says: "has number -5, under which it was never sealed"},
	"two swapped": {damage: swapPostingsSQL("1210", "1216"),
		rule: audit.RuleSealed, says: "it was sealed as number 1216"},
	"a hash of the log": {damage: `UPDATE ledger_log_tiles SET hashes = set_byte(hashes, 32, get_byte(hashes, 32) # 1) WHERE level = 0 AND tile_index = 1`,
		rule: audit.RuleSealed, says: "the log's hash of posting number 258"},
	"hashes of the log": {damage: `DELETE FROM ledger_log_tiles WHERE level = 0 AND tile_index = 1`,
		rule: audit.RuleSealed, says: "has lost its hashes around number 257"},
	"the log's edge": {damage: `UPDATE ledger_log_state SET partial_tiles = set_byte(partial_tiles, length(partial_tiles) - 1, get_byte(partial_tiles, length(partial_tiles) - 1) # 1)`,
		rule: audit.RuleSealed, says: "wrong hashes at its edge"},
	"a head": {damage: `UPDATE ledger_log_checkpoints SET root_hash = sha256(root_hash) WHERE size = 1213`,
		rule: audit.RuleSignedCheckpoints, says: "its note says something else"},
	"a head gone": {damage: `DELETE FROM ledger_log_checkpoints WHERE size = 1223`,
		rule: audit.RuleSignedCheckpoints, says: "is at size 1223 and its last head at size 1213"},
	"a closed month's head": {damage: closeMonthSQL("replace(signed_note, E'\\n1208\\n', E'\\n1209\\n')"),
		rule: audit.RuleSignedCheckpoints, says: "(kept with the closing of 2026-10): invalid signature"},
	"a closed month's head, of another log": {damage: closeMonthSQL("replace(signed_note, substr(signed_note, 17, 36), '01900000-0000-7000-8000-000000000001')"),
		rule: audit.RuleSignedCheckpoints, says: "what was kept with the closing of 2026-10 on PlatformConfig"},
	"a closed month's head gone to words": {damage: closeMonthSQL("'none'"),
		rule: audit.RuleSignedCheckpoints, says: "what was kept with the closing of 2026-10 on PlatformConfig"},
	"a key": {damage: `UPDATE ledger_log_keys SET public_key = sha256(public_key)`,
		rule: audit.RuleSignedCheckpoints, says: "signed with no key of the log"},
	"everything": {damage: `DELETE FROM ledger_postings; DELETE FROM ledger_entries; DELETE FROM ledger_balances; DELETE FROM ledger_balance_snapshots; DELETE FROM ledger_accounts;
			DELETE FROM ledger_clocks; DELETE FROM ledger_snapshot_progress; DELETE FROM ledger_log_state; DELETE FROM ledger_log_checkpoints; DELETE FROM ledger_log_tiles`,
		rule: audit.RulePublishedCheckpoints, says: "the newest 1223 postings are missing"},
}

// closeMonthSQL keeps something as the head of a closed month, in which there is nothing.
func closeMonthSQL(head string) string {
	return `INSERT INTO ledger_closings (platform_id, month, closed_at, note, seq, digest, next_month_seq, log_checkpoint)
		SELECT platform_id, '2026-10-01', now(), '', 1208, (SELECT digest FROM ledger_postings WHERE seq = 1208), 1, ` + head + ` FROM ledger_log_checkpoints WHERE size = 1208;
		INSERT INTO ledger_period_changes (platform_id, month, action, changed_at, note)
		SELECT platform_id, '2026-10-01', action, '2026-11-25Z', '' FROM ledger_clocks, unnest(ARRAY['soft-close', 'close']) action;
		UPDATE ledger_clocks SET closed_before = '2026-11-01', soft_closed_before = '2026-11-01'`
}

func TestVerify_ChecksCheckpointOfClosedMonth(t *testing.T) {
	t.Parallel()
	// The head that a month was closed with is held against the postings like any other, and
	// as it was signed it fits.
	v := newSealedEnv(t)
	v.execAsSuperuser(dropConstraintsSQL + closeMonthSQL("signed_note"))

	report := v.verify()

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

// insertCopiesSQL writes postings like another one under new numbers.
func insertCopiesSQL(from, to, like int) string {
	return strings.NewReplacer("$from", strconv.Itoa(from), "$to", strconv.Itoa(to), "$like", strconv.Itoa(like)).Replace(`
		INSERT INTO ledger_postings (platform_id, id, seq, kind, effective_at, recorded_at, memo, digest)
		SELECT platform_id, gen_random_uuid(), n, kind, effective_at, recorded_at + (n - seq) * interval '1 microsecond', memo, digest
		FROM ledger_postings, generate_series($from, $to) n WHERE seq = $like;
		INSERT INTO ledger_entries SELECT platform_id, s, recorded_at, debit_account_id, credit_account_id, amount, entry_no, currency
		FROM ledger_entries, generate_series($from, $to) s WHERE seq = $like`)
}

// renumberFromSQL makes room for a number.
func renumberFromSQL(seq string) string {
	return `UPDATE ledger_postings SET seq = -seq WHERE seq >= ` + seq + `; UPDATE ledger_postings SET seq = 1 - seq WHERE seq < 0;
		UPDATE ledger_entries SET seq = -seq WHERE seq >= ` + seq + `; UPDATE ledger_entries SET seq = 1 - seq WHERE seq < 0; UPDATE ledger_clocks SET seq = seq + 1`
}

// swapPostingsSQL gives two postings each other's number and recorded time.
func swapPostingsSQL(a, b string) string {
	return strings.NewReplacer("$a", a, "$b", b).Replace(`
		UPDATE ledger_postings p SET seq = -p.seq, recorded_at = (SELECT o.recorded_at FROM ledger_postings o WHERE o.seq = $a + $b - p.seq) WHERE p.seq IN ($a, $b);
		UPDATE ledger_postings SET seq = $a + $b + seq WHERE seq < 0;
		UPDATE ledger_entries SET seq = -seq WHERE seq IN ($a, $b); UPDATE ledger_entries SET seq = $a + $b + seq WHERE seq < 0`)
}

func TestVerify_FindsTampering(t *testing.T) {
	t.Parallel()
	// Whatever is done to the tables behind the service's back is found and named, also
	// when it is made to fit everything else that is stored; and when even the log was
	// made to fit, a head that was published before still tells.
	for name, c := range tamperings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newSealedEnv(t)
			damage := dropConstraintsSQL + c.damage
			if c.rewind {
				damage += "; " + v.rewindLogSQL()
			}
			v.execAsSuperuser(damage)
			if len(c.fits) > 0 {
				v.recomputeDigests(c.fits...)
			}

			report := v.verify()

			for _, f := range report.Findings {
				if f.Rule == c.rule && strings.Contains(f.Message, c.says) {
					return
				}
			}
			t.Errorf("want %q to say %q, found", c.rule, c.says)
			for _, f := range report.Findings {
				t.Log(f)
			}
		})
	}
}

func TestVerify_RebuiltLogContradictsPublishedCheckpoints(t *testing.T) {
	t.Parallel()
	// Somebody with the database and the keys changes an amount and makes the whole log
	// again: inside, everything fits, and only the heads outside tell.
	v := newSealedEnv(t)
	v.execAsSuperuser("UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 900; UPDATE ledger_balance_snapshots SET balance = balance + 1 WHERE seq >= 900; " +
		"DELETE FROM ledger_log_tiles; DELETE FROM ledger_log_checkpoints; DELETE FROM ledger_log_state")
	v.recomputeDigests(900)
	outside := v.publishedCheckpoints()
	v.seal()

	inside, err := v.newService(checkDelivered).Verify(t.Context(), audit.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := v.newService(checkDelivered).Verify(t.Context(), audit.VerifyOptions{Published: outside})
	if err != nil {
		t.Fatal(err)
	}

	for _, f := range inside.Findings {
		if f.Rule == audit.RuleSealed || f.Rule == audit.RuleSignedCheckpoints || f.Rule == audit.RuleUnchanged {
			t.Errorf("found inside: %s", f)
		}
	}
	told := false
	for _, f := range report.Findings {
		told = told || f.Rule == audit.RulePublishedCheckpoints && strings.Contains(f.Message, "does not fit the postings: no earlier one fits")
	}
	if !told {
		t.Errorf("the heads outside tell nothing: %v", report.Findings)
	}
}

func TestVerifyExport_ValidAndTampered(t *testing.T) {
	t.Parallel()
	// An export and a head are enough, without a database. The same postings give the
	// same bytes; what was changed in the file, or is not in it, shows.
	v := newSealedEnv(t)
	var whole, again, part bytes.Buffer
	for out, upto := range map[*bytes.Buffer]int64{&whole: 0, &again: 1223, &part: 1213} {
		if _, err := v.newService(nil).ExportLog(t.Context(), v.platform, upto, out, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(whole.Bytes(), again.Bytes()) {
		t.Error("two exports of the same postings differ")
	}
	keys, err := v.logService.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	against := audit.VerifyOptions{Published: v.publishedCheckpoints(), Keys: [][32]byte{keys[0].Public}}
	last := against
	last.Published = last.Published[:2]

	lines := strings.SplitAfter(whole.String(), "\n")
	swapped := append([]string{}, lines...)
	swapped[1210], swapped[1216] = swapped[1216], swapped[1210]
	for name, c := range map[string]struct {
		export  string
		against audit.VerifyOptions
		finds   string // in the report; nothing: it holds
		refuses string // as an error
	}{
		"whole":               {export: whole.String(), against: against},
		"heads of before":     {export: whole.String(), against: last},
		"up to a head":        {export: part.String(), against: last},
		"a head beyond":       {export: part.String(), against: against, finds: "the newest 10 postings are missing"},
		"no signature":        {export: whole.String(), against: audit.VerifyOptions{Published: v.publishedCheckpoints()}},
		"another key":         {export: whole.String(), against: audit.VerifyOptions{Published: v.publishedCheckpoints(), Keys: [][32]byte{{1}}}, finds: "signed with no key of the log"},
		"a forged head":       {export: whole.String(), against: audit.VerifyOptions{Published: forgeLastCheckpoint(v), Keys: against.Keys}, finds: "invalid signature"},
		"an amount":           {export: strings.Replace(whole.String(), `"amount":"7"`, `"amount":"8"`, 1), against: against, finds: "the one of size 1213 fits"},
		"a date":              {export: strings.Replace(whole.String(), `"effective":"2026-11-20`, `"effective":"2026-10-20`, 1), against: against, finds: "does not fit the postings: no earlier one fits"},
		"the file's own root": {export: changeRoot(whole.String()), against: against, finds: "changed after it was written"},
		"a line less":         {export: strings.Join(append(append([]string{}, lines[:900]...), lines[901:]...), ""), against: against, finds: "1 postings are missing"},
		"lines swapped":       {export: strings.Join(swapped, ""), against: against, finds: "postings are missing"},
		"a line twice":        {export: strings.Join(append(append([]string{}, lines[:900]...), lines[899:]...), ""), against: against, finds: "has number 899, which is none or another's"},
		"cut off":             {export: strings.Join(lines[:900], ""), against: against, refuses: "cut off after line 900"},
		"cut off in a line":   {export: whole.String()[:whole.Len()-5], against: against, refuses: "cut off after line 1224"},
		"something after":     {export: whole.String() + "{}\n", against: against, refuses: "goes on after its end"},
		"another file":        {export: "date,amount\n", against: against, refuses: "no export of a log"},
		"nothing":             {against: against, refuses: "no export of a log"},
		"a broken line":       {export: strings.Replace(whole.String(), `{"seq":7,`, `{"seq":7,,`, 1), against: against, refuses: "line 8 of the export is no posting"},
		"an unknown field":    {export: strings.Replace(whole.String(), `{"seq":7,`, `{"seq":7,"x":1,`, 1), against: against, refuses: "unknown field"},
		"a fraction":          {export: strings.Replace(whole.String(), `"amount":"7"`, `"amount":"7.5"`, 1), against: against, refuses: "no whole number"},
		"a time that is none": {export: strings.Replace(whole.String(), `"effective":"2026`, `"effective":"x026`, 1), against: against, refuses: "effective time"},
		"a head of another":   {export: whole.String(), against: audit.VerifyOptions{Published: withOtherPlatforms(v.publishedCheckpoints())}, refuses: "none of the heads is of"},
	} {
		report, err := audit.VerifyExport(t.Context(), strings.NewReader(c.export), c.against)
		switch {
		case c.refuses != "":
			if err == nil || !strings.Contains(err.Error(), c.refuses) {
				t.Errorf("%s: want the error to say %q, got %v", name, c.refuses, err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case c.finds == "":
			for _, f := range report.Findings {
				t.Errorf("%s: %s", name, f)
			}
		default:
			told := false
			for _, f := range report.Findings {
				told = told || strings.Contains(f.Message, c.finds)
			}
			if !told {
				t.Errorf("%s: want %q, found %v", name, c.finds, report.Findings)
			}
		}
	}
}

// changeRoot changes one letter of the root in the last line of an export.
func changeRoot(export string) string {
	const mark = `"root":"`
	at := strings.LastIndex(export, mark) + len(mark)
	letter := "A"
	if export[at:at+1] == letter {
		letter = "B"
	}
	return export[:at] + letter + export[at+1:]
}

// forgeLastCheckpoint are the published heads, the last of which says something else under the same
// signature.
func forgeLastCheckpoint(v *sealedEnv) []audit.PublishedCheckpoint {
	heads := v.publishedCheckpoints()
	last := &heads[len(heads)-1]
	before := last.Text()
	last.Size--
	last.Note = strings.Replace(last.Note, before, last.Text(), 1)
	return heads
}

func withOtherPlatforms(heads []audit.PublishedCheckpoint) []audit.PublishedCheckpoint {
	for i := range heads {
		ident.SetUUID(&heads[i].Platform, newID())
	}
	return heads
}
