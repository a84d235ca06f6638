package audit_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/app/audit"
)

// A log of two postings, its checkpoint and the key that signed it, written by a program in another
// language that follows the documentation.
const (
	smallExport = `{"format":"causeway log 1","platform":"PlatformConfig:01900000-0000-7000-8000-000000000001","origin":"causeway.ledger/01900000-0000-7000-8000-000000000001"}
{"seq":1,"id":"01900000-0000-7000-8000-000000000101","kind":"deposit","transaction":"01900000-0000-7000-8000-000000000002","effective":"2026-11-20T12:00:00.000000Z","recorded":"2026-11-20T12:00:00.000001Z","memo":"Rechnung № 7 <b>","entries":[{"n":1,"debit":"rails/ACH","credit":"funding/jit","currency":"USD","amount":"10050"}]}
{"seq":2,"id":"01900000-0000-7000-8000-000000000102","kind":"reversal","reverses":"01900000-0000-7000-8000-000000000101","effective":"2026-11-20T12:00:00.000000Z","recorded":"2026-11-20T12:00:00.000002Z","memo":"","entries":[{"n":1,"debit":"funding/jit","credit":"rails/ACH","currency":"USD","amount":"10050"}]}
{"end":true,"size":2,"root":"JHk6dl6QrIorfO4W3uZojnQzfrTLFdxYXCPPZMqMcpY="}
`
	smallCheckpoint = `causeway.ledger/01900000-0000-7000-8000-000000000001
2
JHk6dl6QrIorfO4W3uZojnQzfrTLFdxYXCPPZMqMcpY=

— causeway.ledger/01900000-0000-7000-8000-000000000001 1J6FOhWxhEv7IMm6wHnETrxgcVL1mWmCeUWbj3dajR+oAocoTMfJZfrrms8W4uFxT9nwNGN9jmNahR2WnorPZPQKrwM=
`
	smallKey = "causeway.ledger/01900000-0000-7000-8000-000000000001+d49e853a+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"
)

func TestVerifyExport_DetectsAnyChangedByte(t *testing.T) {
	t.Parallel()
	// Any changed byte of an export is rejected or found, unless the file still has the same
	// content.
	checkpoints, err := audit.ReadCheckpoints("checkpoint", strings.NewReader(smallCheckpoint))
	if err != nil {
		t.Fatal(err)
	}
	key, err := audit.ParseLogKey(smallKey)
	if err != nil {
		t.Fatal(err)
	}
	options := audit.VerifyOptions{Published: checkpoints, Keys: [][32]byte{key}}
	if report, err := audit.VerifyExport(t.Context(), strings.NewReader(smallExport), options); err != nil || !report.Clean() {
		t.Fatal(report.Findings, err)
	}
	content := decodeExport(t, smallExport)
	rapid.Check(t, func(r *rapid.T) {
		position := rapid.IntRange(0, len(smallExport)-1).Draw(r, "position")
		letter := rapid.SampledFrom([]byte("\"\\{}[]:,. \n0123456789aAbBzZ-+")).Draw(r, "letter")
		changed := smallExport[:position] + string(letter) + smallExport[position+1:]

		report, err := audit.VerifyExport(t.Context(), strings.NewReader(changed), options)

		if err == nil && report.Clean() && !reflect.DeepEqual(decodeExport(t, changed), content) {
			r.Errorf("the change at %d to %q is not found", position, letter)
		}
	})
}

// decodeExport decodes the lines of an export, without regard to the case of letters outside of the root
// hash. The base64 of that has bits at its end that nobody reads.
func decodeExport(t *testing.T, export string) (lines []any) {
	t.Helper()
	for line := range strings.Lines(export) {
		var trailer struct{ Root []byte }
		decoded := map[string]any{}
		if err := errors.Join(json.Unmarshal([]byte(line), &trailer), json.Unmarshal([]byte(strings.ToLower(line)), &decoded)); err != nil {
			t.Fatal(err)
		}
		if _, last := decoded["root"]; last {
			decoded["root"] = trailer.Root
		}
		lines = append(lines, decoded)
	}
	return lines
}

func FuzzVerifyExport(f *testing.F) {
	// Any file results in a report or an error.
	checkpoints, err := audit.ReadCheckpoints("checkpoint", strings.NewReader(smallCheckpoint))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(smallExport)
	f.Add("")
	f.Add(strings.ReplaceAll(smallExport, `"seq":2`, `"seq":-9223372036854775808`))
	f.Add(strings.ReplaceAll(smallExport, `"seq":2`, `"seq":9223372036854775807`))
	f.Add(strings.ReplaceAll(smallExport, `"entries":[`, `"entries":[],"entries":[`))
	f.Add(strings.ReplaceAll(smallExport, `"10050"`, `"-9223372036854775808"`))
	f.Add(strings.ReplaceAll(smallExport, `"seq":1`, `"seq":2`))
	f.Fuzz(func(t *testing.T, export string) {
		report, err := audit.VerifyExport(t.Context(), strings.NewReader(export), audit.VerifyOptions{Published: checkpoints})
		if err == nil && len(report.Rules) != 5 {
			t.Errorf("neither a report nor an error: %+v", report)
		}
	})
}

func FuzzReadCheckpoints(f *testing.F) {
	// Checkpoints that can be read are the same when they are written and read again.
	for _, text := range []string{smallCheckpoint, smallCheckpoint + "\n" + smallCheckpoint, smallCheckpoint + smallCheckpoint, "", "\n\n\n",
		strings.TrimSuffix(smallCheckpoint, "\n"),
		strings.ReplaceAll(smallCheckpoint, "\n", "\r\n"), "— x\n", "\n— \n", strings.Repeat("x", 1<<17)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkpoints, err := audit.ReadCheckpoints("checkpoints", strings.NewReader(text))
		if err != nil {
			return
		}
		var written strings.Builder
		for _, c := range checkpoints {
			written.WriteString(c.Note + "\n")
		}
		again, err := audit.ReadCheckpoints("checkpoints", strings.NewReader(written.String()))
		if err != nil || len(again) != len(checkpoints) {
			t.Fatalf("%d checkpoints become %d, %v", len(checkpoints), len(again), err)
		}
		for i := range checkpoints {
			if again[i].Checkpoint != checkpoints[i].Checkpoint || again[i].Note != checkpoints[i].Note {
				t.Errorf("checkpoint %d differs", i)
			}
		}
	})
}
