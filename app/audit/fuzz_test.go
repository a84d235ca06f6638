package audit_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/app/audit"
)

// A log of two postings, a head of it and the key that signed it, written by a program
// of another language from the documents alone.
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
	// Whatever letter of an export is changed: either it is refused or found, or the file
	// still says the very same.
	heads, err := audit.ReadCheckpoints("head", strings.NewReader(smallCheckpoint))
	if err != nil {
		t.Fatal(err)
	}
	key, err := audit.ParseLogKey(smallKey)
	if err != nil {
		t.Fatal(err)
	}
	against := audit.VerifyOptions{Published: heads, Keys: [][32]byte{key}}
	if report, err := audit.VerifyExport(t.Context(), strings.NewReader(smallExport), against); err != nil || !report.Clean() {
		t.Fatal(report.Findings, err)
	}
	said := decodeExport(t, smallExport)
	rapid.Check(t, func(r *rapid.T) {
		at := rapid.IntRange(0, len(smallExport)-1).Draw(r, "at")
		letter := rapid.SampledFrom([]byte("\"\\{}[]:,. \n0123456789aAbBzZ-+")).Draw(r, "letter")
		changed := smallExport[:at] + string(letter) + smallExport[at+1:]

		report, err := audit.VerifyExport(t.Context(), strings.NewReader(changed), against)

		if err == nil && report.Clean() && !reflect.DeepEqual(decodeExport(t, changed), said) {
			r.Errorf("a change at %d to %q goes unseen", at, letter)
		}
	})
}

// decodeExport is what the lines of an export say; the case of names and ids is nothing.
func decodeExport(t *testing.T, export string) (lines []any) {
	t.Helper()
	for line := range strings.Lines(strings.ToLower(export)) {
		var said any
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, said)
	}
	return lines
}

func FuzzVerifyExport(f *testing.F) {
	// Whatever a file holds, the answer is a report or an error.
	heads, err := audit.ReadCheckpoints("head", strings.NewReader(smallCheckpoint))
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
		report, err := audit.VerifyExport(t.Context(), strings.NewReader(export), audit.VerifyOptions{Published: heads})
		if err == nil && len(report.Rules) != 5 {
			t.Errorf("neither a report nor an error: %+v", report)
		}
	})
}

func FuzzReadCheckpoints(f *testing.F) {
	// What is read as heads can be written and read again, and is the same.
	for _, text := range []string{smallCheckpoint, smallCheckpoint + "\n" + smallCheckpoint, smallCheckpoint + smallCheckpoint, "", "\n\n\n", strings.TrimSuffix(smallCheckpoint, "\n"),
		strings.ReplaceAll(smallCheckpoint, "\n", "\r\n"), "— x\n", "\n— \n", strings.Repeat("x", 1<<17)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		heads, err := audit.ReadCheckpoints("heads", strings.NewReader(text))
		if err != nil {
			return
		}
		var again strings.Builder
		for _, h := range heads {
			again.WriteString(h.Note + "\n")
		}
		same, err := audit.ReadCheckpoints("heads", strings.NewReader(again.String()))
		if err != nil || len(same) != len(heads) {
			t.Fatalf("%d heads become %d, %v", len(heads), len(same), err)
		}
		for i := range heads {
			if same[i].Checkpoint != heads[i].Checkpoint || same[i].Note != heads[i].Note {
				t.Errorf("head %d becomes another", i)
			}
		}
	})
}
