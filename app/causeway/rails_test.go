package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

// railsDatabase returns a database with a connection to a bank and payments that wait.
func railsDatabase(t *testing.T) string {
	t.Helper()
	url := seededDatabase(t)
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2,
		Clock: portstest.NewFakeClock(noon)})
	c := rail.Connection{Name: "bank-eur", Adapter: rail.BankFile, Version: 1, Rails: []corridor.Rail{corridor.SEPA, corridor.SEPAInstant},
		Currencies: []money.Currency{"EUR"},
		Limits:     []rail.Limit{{Currency: "EUR", PerPayout: 1_000_000}}, Settings: map[string]string{"folder": "/srv/bank",
			"sftpPassword": "file:/run/secrets/bank"}, SetAt: noon}
	portstest.SaveConnection(t, db.Connections(), ports.RailConnectionVersion{Connection: c, By: "ana", Note: "Account at Example Bank"})
	c.Version, c.Priority, c.Countries, c.SetAt = 2, 5, []string{"DE", "FR"}, noon.Add(time.Hour)
	c.Settings = map[string]string{"folder": "/srv/bank2"}
	c.Schedules = []rail.Schedule{{Rail: corridor.SEPA, CutOff: "13:30", Holidays: []string{"2026-12-24"}, Hold: true}}
	portstest.SaveConnection(t, db.Connections(), ports.RailConnectionVersion{Connection: c, By: "ben", Note: "Only two countries"})
	payment := func(n byte, minor int64, state rail.State, wait rail.Wait, reason string) rail.Payment {
		return rail.Payment{ID: uuid.UUID{6: 0x70, 8: 0x80, 15: n}, Kind: rail.Payout, Connection: "bank-eur",
			Amount: money.Amount{Minor: minor, Currency: "EUR"}, State: state, Wait: wait, Reason: reason,
			Route:      rail.Route{Platform: must(ident.ParsePlatform(fakePlatform)), Rail: corridor.SEPA, Currency: "EUR", Country: "DE"},
			RecordedAt: noon.Add(time.Duration(n) * time.Minute)}
	}
	sent := payment(4, 700, rail.Sent, rail.WaitsForNothing, "")
	sent.SentAt = noon.Add(time.Hour)
	rejected := payment(5, 800, rail.Refused, rail.WaitsForNothing, "")
	rejected.SentAt, rejected.SettledAt, rejected.PartnerID = noon.Add(time.Hour), noon.Add(2*time.Hour), "TRX-5"
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error {
		reply := ports.RailReply{Platform: rejected.Platform, Subject: rejected.ID, Call: ports.CallSend, At: noon.Add(2 * time.Hour),
			Outcome: ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, PartnerID: "TRX-5", Code: "AC04",
				Text: "Closed in\x1b May"}}
		if err := tx.SaveRailReplies(ctx, []ports.RailReply{reply}); err != nil {
			return err
		}
		if _, err := tx.LockRailAccounts(ctx, []rail.AccountKey{{Connection: "bank-eur", Currency: "EUR"}}, noon); err != nil {
			return err
		}
		return tx.CreateRailPayments(ctx, []rail.Payment{
			payment(1, 2_000_000, rail.InReview, rail.WaitsForReview, "above the limit of 10000.00 EUR per payout"),
			payment(2, 500_00, rail.Queued, rail.WaitsForFunds, "bank-eur has 10.00 EUR available"),
			sent, rejected,
			payment(3, 100, rail.Queued, rail.WaitsForFunds, "behind an older payment that waits for money"),
		})
	})
	keep := func(n byte, kind ports.RailFeedItemKind, key, content, problem string) ports.RailFeedItem {
		return ports.RailFeedItem{ID: uuid.UUID{6: 0x70, 8: 0x80, 15: n}, Connection: "bank-eur", Kind: kind, Key: key, Content: []byte(content),
			Problem:  problem,
			Attempts: 3, KeptAt: noon.Add(time.Duration(n) * time.Minute), RetryAt: noon.Add(time.Hour)}
	}
	file := keep(0x23, ports.RailFeedFile, "sha256:5e88", `{"data":"G1A=","size":700000,"sha256":"5e88"}`, "it is not XML")
	file.Place = "in/statement.sta"
	event := keep(0x24, ports.RailFeedEvent, "evt_7/5e88", `{"data":"eyJpZCI6ICJldnRfNyJ9","size":15}`, "rail is not a known name")
	event.Place = "event evt_7"
	if _, err := db.KeepRailFeedItems(t.Context(), []ports.RailFeedItem{file, event,
		keep(0x21, ports.RailFeedReceipt, "SEPA/4711", `{"PartnerID":"4711","Reference":"RENT"}`, "no platform is known for it"),
		keep(0x22, ports.RailFeedFee, "SEPA/F1", `{"PartnerID":"F1"}`, "it has no time"),
	}); err != nil {
		t.Fatal(err)
	}
	for n, problem := range []string{"", "the statement begins with 5.00 EUR, and the one before ended with 4.00 EUR"} {
		s := ports.QueuedStatement{ID: uuid.UUID{6: 0x70, 8: 0x80, 15: byte(0x31 + n)}, Platform: must(ident.ParsePlatform(fakePlatform)),
			Connection: "bank-eur", ReceivedAt: noon,
			RailStatement: ports.RailStatement{Name: fmt.Sprintf("statement-%d.xml", n), Format: "CAMT053",
				Data: []byte(fmt.Sprintf("<Document>%d</Document>", n))}}
		if err := db.QueueRailStatement(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if err := db.RailStatementFailed(t.Context(), s, problem, noon.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	return url
}

func TestRailsStatements_FileIsWritten(t *testing.T) {
	t.Parallel()
	// The file of a statement that waits is written to a new file that only its owner can read, and never over another one.
	url, path := railsDatabase(t), filepath.Join(t.TempDir(), "statement.xml")
	args := []string{"rails", "statements", "show", "00000000-0000-7000-8000-000000000032", "--file", path, "--database-url", url}
	var out, errOut strings.Builder
	if status := run(t.Context(), args, &out, &errOut); status != 0 {
		t.Fatalf("status %d: %s", status, errOut.String())
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || readFile(t, path) != "<Document>1</Document>" {
		t.Errorf("%v, %v: %s", info, err, readFile(t, path))
	}
	if status := run(t.Context(), args, &out, &errOut); status == 0 {
		t.Error("the file was written over")
	}
}

func TestRailsInbox_BytesAreWritten(t *testing.T) {
	t.Parallel()
	// The bytes of a report that was not understood are written to a new file; of one that was, what it says.
	url, dir := railsDatabase(t), t.TempDir()
	for id, want := range map[string]string{"23": "\x1bP", "21": `{"PartnerID":"4711","Reference":"RENT"}`} {
		path := filepath.Join(dir, id)
		var out, errOut strings.Builder
		if status := run(t.Context(), []string{"rails", "inbox", "show", "00000000-0000-7000-8000-0000000000" + id, "--file", path,
			"--database-url", url}, &out, &errOut); status != 0 {
			t.Fatalf("status %d: %s", status, errOut.String())
		}
		if got := readFile(t, path); got != want {
			t.Errorf("%s: wrote %q, want %q", id, got, want)
		}
	}
}

func TestRailsCommands_Output(t *testing.T) {
	t.Parallel()
	// An operator sees the connections and what waits, stops and resumes them, and decides about payments. Who did it and why
	// is in the history.
	url := railsDatabase(t)
	var transcript strings.Builder
	for _, args := range []string{
		"rails list",
		"rails show bank-eur",
		"rails show bank-eur --output json",
		"rails calendar bank-eur --year 2026",
		"rails calendar ACH --year 2027",
		"rails calendar bank-usd",
		"rails calendar SEPA --year 1999",
		"rails pause SEPA --note incident --actor ana",
		"rails pause bank-eur --note incident --actor ana",
		"rails pause bank-eur --note incident --actor ana",
		"rails list",
		"rails resume bank-eur --note over --actor ben",
		"rails history bank-eur",
		"rails history SEPA",
		"rails history PIX",
		"rails history bank-usd",
		"rails pause bank-usd --note x --actor ana",
		"rails test bank-usd",
		"rails test bank-eur",
		"rails history bank-eur",
		"rails delete bank-eur --note x --actor ana",
		"rails retire bank-eur --note closed --actor ana",
		"rails retire bank-eur --note closed --actor ana",
		"rails delete bank-eur --note closed --actor ana",
		"rails list",
		"rails delete bank-usd --note x --actor ana",
		"rails balance bank-eur --set 100050 --currency EUR --note statement --actor ana",
		"rails balance bank-eur --set 100050 --currency USD --note statement --actor ana",
		"rails prove",
		"payouts list",
		"payouts review",
		"payouts release 00000000-0000-7000-8000-000000000001 --note confirmed --actor ana",
		"payouts release Transaction:00000000-0000-7000-8000-000000000002 --note urgent --actor ana",
		"payouts cancel 00000000000070008000000000000003 --note mistake --actor ana",
		"payouts cancel 00000000000070008000000000000003 --note mistake --actor ana",
		"payouts show 00000000-0000-7000-8000-000000000002",
		"payouts show 00000000-0000-7000-8000-000000000005",
		"payouts show 00000000-0000-7000-8000-000000000009",
		"payouts release nothing --note x --actor ana",
		"payouts release 00000000-0000-7000-8000-000000000009 --note x --actor ana",
		"payouts review",
		"payouts queue",
		"payouts queue --connection base",
		"payouts unsettled",
		"payouts unsettled --connection base",
		"rails inbox list",
		"rails inbox list --limit 1",
		"rails inbox list --connection base",
		"rails inbox show 00000000-0000-7000-8000-000000000021",
		"rails inbox retry 00000000-0000-7000-8000-000000000021",
		"rails inbox discard 00000000-0000-7000-8000-000000000022 --note test --actor ana",
		"rails inbox discard 00000000-0000-7000-8000-000000000022 --note test --actor ana",
		"rails inbox retry 00000000-0000-7000-8000-000000000022",
		"rails inbox show 00000000-0000-7000-8000-000000000022",
		"rails inbox show 00000000-0000-7000-8000-000000000029",
		"rails inbox show 4711",
		"rails inbox show 00000000-0000-7000-8000-000000000023",
		"rails inbox show 00000000-0000-7000-8000-000000000024",
		"rails inbox list",
		"rails statements list",
		"rails statements show 00000000-0000-7000-8000-000000000032",
		"rails statements retry 00000000-0000-7000-8000-000000000031",
		"rails statements retry 00000000-0000-7000-8000-000000000032",
		"rails statements discard 00000000-0000-7000-8000-000000000032 --note manual --actor ana",
		"rails statements discard 00000000-0000-7000-8000-000000000032 --note manual --actor ana",
		"rails statements retry 00000000-0000-7000-8000-000000000032",
		"rails statements show 00000000-0000-7000-8000-000000000032",
		"rails statements show 00000000-0000-7000-8000-000000000039",
		"rails statements list --connection base",
		"rails statements list",
	} {
		var out, errOut strings.Builder
		status := run(t.Context(), append(strings.Fields(args), "--database-url", url), &out, &errOut)
		if (status == 0) != (errOut.Len() == 0) {
			t.Errorf("%s: status %d, %s", args, status, errOut.String())
		}
		transcript.WriteString("$ causeway " + args + "\n" + out.String() + errOut.String() + "\n")
	}
	timestamp := regexp.MustCompile(`20(2[7-9]|26-(0[4-9]|1))[-0-9]* \d\d:\d\d`) // of now
	checkGolden(t, "rails.txt", timestamp.ReplaceAllString(transcript.String(), "now"))
}

func TestRailsSet_ListsEveryBadField(t *testing.T) {
	t.Parallel()
	// A file that cannot be used changes nothing, and every bad field is named. A secret in it is never shown.
	url := railsDatabase(t)
	for name, tt := range map[string]struct {
		file string
		want []string
	}{
		"fields": {`{"adapter": "FAX", "rails": ["SEPA", "SEPA"], "platforms": ["x"], "settings": {"password": "hunter2"}}`,
			[]string{"nothing was changed:", "platforms[0] must be", "adapter must be one of", "rails[1] is listed twice", "currencies must name",
				"settings.password must not hold a secret"}},
		"schedules": {
			`{"adapter": "BANK_FILE", "rails": ["SEPA"], "currencies": ["EUR"], "schedules": [{"rail": "WIRE", "zone": "CET/Nowhere", "calendar": "BANK", "opens": "18:00", "cutOff": "25:00",
			"days": 31, "takes": "soon", "holidays": ["24 December"], "workingDays": ["2026-02-30"]}]}`,
			[]string{"schedules[0].rail must be one of rails", "schedules[0].zone must",
				"schedules[0].calendar must be one of EVERY_DAY, WEEKDAYS, ", "schedules[0].cutOff must", "schedules[0].days must",
				"schedules[0].takes must be a duration", "schedules[0].holidays must be days such as",
				"schedules[0].workingDays must be days such as"}},
		"unknown fields": {
			`{"adapter": "BANK_FILE", "colour": "hunter2", "rail": [], "rails": ["SEPA"], "currencies": ["EUR"], "limits": [{"curency": "EUR"}], "schedules": [{"rail": "SEPA", "cutoff": "10:00"}]}`,
			[]string{"colour is an unknown field; there are adapter, countries,", "rail is an unknown field",
				"limits[0].curency is an unknown field", "schedules[0].cutoff is an unknown field"}},
		"types": {
			`{"adapter": 7, "rails": "SEPA", "currencies": ["EUR"], "priority": "1", "limits": {}, "schedules": [{"rail": "SEPA", "days": 1.5, "hold": "yes"}, 7], "settings": {"maxPayments": 5, "password": {"a": "hunter2"}}}`,
			[]string{"adapter must be a text in quotes", "rails must be a list in brackets of texts", "priority must be a whole number",
				"limits must be a list in brackets of objects", "schedules[0].days must be a whole number",
				"schedules[0].hold must be true or false", "schedules[1] must be an object", "settings.maxPayments must be a text in quotes",
				"settings.password must be a text"}},
		"empty file":    {``, []string{"file must be the JSON object of a connection, and is empty"}},
		"list":          {`[]`, []string{"begins with {"}},
		"null":          {`null`, []string{"begins with {"}},
		"missing comma": {"{\n\"adapter\": \"PARTNER\"\n\"rails\": []}", []string{"line 3 is not valid"}},
		"no JSON":       {`adapter: PARTNER`, []string{"file must be the JSON object"}},
		"two values":    {`{} {}`, []string{"more than one value"}},
		"other platform": {
			`{"adapter": "BANK_FILE", "rails": ["SEPA"], "currencies": ["EUR"], "platforms": ["PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4eff"]}`, []string{"platforms[0] is", "does not exist"}},
		"changed adapter": {`{"adapter": "PARTNER", "rails": ["SEPA"], "currencies": ["EUR"]}`, []string{"adapter must stay BANK_FILE"}},
	} {
		path := filepath.Join(t.TempDir(), "bank-eur.json")
		if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errOut strings.Builder
		status := run(t.Context(), []string{"rails", "set", "bank-eur", path, "--note", "test", "--actor", "ana", "--database-url", url},
			&out, &errOut)
		if status != 1 || strings.Contains(errOut.String(), "hunter2") {
			t.Errorf("%s: status %d, %s%s", name, status, out.String(), errOut.String())
		}
		for _, want := range tt.want {
			if !strings.Contains(errOut.String(), want) {
				t.Errorf("%s: %q is not in\n%s", name, want, errOut.String())
			}
		}
	}
}

func TestRailsSet_RefusesASecondConnectionOfAWallet(t *testing.T) {
	t.Parallel()
	// Two connections of one wallet on one chain, of one account at a bank or a partner, or of one folder are refused when the
	// second is set or tested, with the name of the first. Other chains, accounts and currencies are not.
	url, folder := seededDatabase(t), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	seed := "file:" + write("seed", strings.Repeat("0123456789abcdef", 4))
	secret := "file:" + write("secret", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	for _, bank := range []string{"bank", "bank-2"} {
		for _, name := range []string{"in", "out", "archive"} {
			if err := os.MkdirAll(filepath.Join(folder, bank, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	evm := func(rail, settings string) string {
		return `{"adapter": "EVM", "rails": ["` + rail +
			`"], "currencies": ["USDC"], "settings": {"urls": "https://node.example.com", "seed": "` + seed +
			`", "usdcContract": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"` + settings + `}}`
	}
	partner := func(address, currency string) string {
		return `{"adapter": "PARTNER", "rails": ["ACH"], "currencies": ["` + currency + `"], "settings": {"url": "` + address +
			`", "secret": "` + secret + `"}}`
	}
	bank := func(name, iban, more string) string {
		return `{"adapter": "BANK_FILE", "rails": ["SEPA"], "currencies": ["EUR"], "settings": {"folder": "` + filepath.Join(folder, name) +
			`", "accountHolder": "Example Client Money", "bankName": "Example Bank", "bic": "COBADEFFXXX", "iban": "` + iban + `"` + more + `}}`
	}
	bitcoin := func(wallet string) string {
		return `{"adapter": "BITCOIN", "rails": ["BITCOIN"], "currencies": ["BTC"], "settings": {"url": "http://127.0.0.1:8332", "wallet": "` +
			wallet + `", "cookie": "` + secret + `", "network": "main",
			"depositXpub": "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB", "depositKey": "` + secret + `"}}`
	}
	german, french := "DE89370400440532013000", "FR1420041010050500013M02606"
	for _, step := range []struct{ name, file, refusal string }{
		{"base", evm("BASE", ""), ""},
		{"base-2", evm("BASE", ""), "0x"},
		{"base-3", evm("BASE", `, "account": "1"`), ""},
		{"polygon", evm("POLYGON", ""), ""},
		{"psp-usd", partner("https://sidecar.example/v1", "USD"), ""},
		{"psp-eur", partner("https://sidecar.example/v1", "EUR"), ""},
		{"psp-two", partner("https://SIDECAR.example/v1/", "USD"), "the account in USD at https://sidecar.example/v1, which psp-usd has already"},
		{"bank", bank("bank", german, ""), ""},
		{"bank-same-account", bank("bank-2", german, ""), "the account DE89370400440532013000 in EUR, which bank has already"},
		{"bank-same-folder", bank("bank/.", french, ""), "bank/in, which bank has already"},
		{"bank-files-stay", bank("bank", french, `, "archive": "none"`), "which bank has already"},
		{"bank-2", bank("bank-2", french, `, "archive": "none"`), ""},
		{"bank-3", bank("bank-2", "GB29NWBK60161331926819", `, "archive": "none"`), ""},
		{"bitcoin", bitcoin("hot"), ""},
		{"bitcoin-2", bitcoin("hot"), "the wallet hot of http://127.0.0.1:8332, which bitcoin has already"},
		{"bitcoin-3", bitcoin("cold"), "the deposit key xpub"},
	} {
		var out, errOut strings.Builder
		run(t.Context(), []string{"rails", "set", step.name, write(step.name+".json", step.file), "--untested", "--note", "test", "--actor",
			"ana", "--database-url", url}, &out, &errOut)
		if got := errOut.String(); (got == "") != (step.refusal == "") || !strings.Contains(got, step.refusal) {
			t.Errorf("%s: %s%s, want %q", step.name, out.String(), got, step.refusal)
		}
	}
}
