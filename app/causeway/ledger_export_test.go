package main

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestLedgerExport_RepeatableInEveryFormat(t *testing.T) {
	t.Parallel()
	// Each format replaces the output file. A second export as of the recorded time in the first
	// is identical.
	url := seededDatabase(t)
	dir := t.TempDir()
	for format, begins := range map[string]string{
		"csv": "posting_number,", "hledger": "; Ledger of " + fakePlatform, "ledger": "; Ledger of " + fakePlatform,
		"beancount": "; Ledger of " + fakePlatform, "camt053": "<?xml ",
	} {
		path := filepath.Join(dir, format)
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errOut, status := runLedger(t, url, "export --format "+format+" --file "+path)
		if status != 0 || errOut != "" || !strings.HasPrefix(out, path+": ") {
			t.Errorf("%s: status %d, %s%s", format, status, out, errOut)
		}
		first := readFile(t, path)
		if !strings.HasPrefix(first, begins) || !strings.Contains(first, "2026-") {
			t.Errorf("%s begins %.200s", format, first)
		}
		_, errOut, status = runLedger(t, url, "export --format "+format+" --file "+path+" --platform "+fakePlatform+" --as-of "+
			exportedAsOf(t, dir, url))
		if again := readFile(t, path); status != 0 || again != first {
			t.Errorf("%s: the second export differs: %s", format, errOut)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
}

func TestLedgerExport_NamesAndCompany(t *testing.T) {
	t.Parallel()
	// The command exports names if asked to, and statements with the company of the settings.
	url := seededDatabase(t)
	for args, want := range map[string]string{
		"--format csv --names":                       "credit_gl_name,debit_customer,credit_customer\r\n",
		"--format csv":                               ",credit_gl_name\r\n",
		"--format beancount --names":                 "; With the present names of customers",
		"--format camt053 --company-name Bridge-Ltd": "<Ownr><Nm>Sandbox</Nm></Ownr><Svcr><FinInstnId><Nm>Bridge-Ltd</Nm></FinInstnId></Svcr></Acct>",
	} {
		if out, errOut, status := runLedger(t, url, "export "+args); status != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: status %d, %s%.2000s", args, status, errOut, out)
		}
	}
}

// exportedAsOf returns the as-of time of a CSV export.
func exportedAsOf(t *testing.T, dir, url string) string {
	t.Helper()
	path := filepath.Join(dir, "as-of.csv")
	if _, errOut, status := runLedger(t, url, "export --format csv --file "+path); status != 0 {
		t.Fatal(errOut)
	}
	rows, err := csv.NewReader(strings.NewReader(readFile(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[len(rows)-1][slices.Index(rows[0], "as_of")]
}

func TestLedgerExport_ReportsInvalidFlags(t *testing.T) {
	t.Parallel()
	// All invalid flags are reported, and the output file is not changed.
	url := seededDatabase(t)
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, wants := range map[string][]string{
		"--format csv --as-of yesterday --from x": {"--as-of must be an RFC 3339",
			"--from must be an RFC 3339"},
		"--format xls --as-of 2999-01-01T00:00:00Z --account x --currency xyz": {
			"--format must be one of csv, hledger, ledger, beancount, camt053, log", "--as-of must not be in the future",
			"--account must be the path", "--currency must be"},
		"--format csv --account rails/FEDNOW": {"--account had no postings"},
		"--format csv --platform Customer:1": {
			"--platform: must be an id of the form PlatformConfig:<uuid>"},
		"--format csv --platform " + strings.Replace(fakePlatform, "0001", "0009", 1): {"does not exist"},
		"--format camt053 --currency BTC":                                             {"--currency must be an ISO 4217 currency"},
		"--format log --names":                                                        {"--format log cannot be combined with"},
		"--format camt053 --company-address London":                                   {"--company-name (CAUSEWAY_COMPANY_NAME) must be set if"},
		"": {"--format"},
	} {
		_, errOut, status := runLedger(t, url, "export --file "+path+" "+args)
		for _, want := range wants {
			if status == 0 || !strings.Contains(errOut, want) {
				t.Errorf("%s: status %d, %s; want %s", args, status, errOut, want)
			}
		}
		if got := readFile(t, path); got != "old" {
			t.Errorf("%s: the file is %q", args, got)
		}
	}
	if _, errOut, status := runLedger(t, url, "export --format csv --file "+filepath.Join(path, "below")); status == 0 {
		t.Errorf("output below a file: %s", errOut)
	}
}

func TestLedgerExport_OutputToPipeLinkAndFolder(t *testing.T) {
	t.Parallel()
	// A pipe is written to directly, a link stays and its target is replaced, and a folder is
	// rejected.
	url := seededDatabase(t)
	dir := t.TempDir()
	printed, _, status := runLedger(t, url, "export --format log --file -")
	if _, err := os.Stat("-"); status != 0 || !strings.HasSuffix(printed, "\n") || err == nil {
		t.Errorf("to standard output: status %d, %s", status, printed)
	}

	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	received := make(chan string)
	go func() {
		text, _ := os.ReadFile(pipe)
		received <- string(text)
	}()
	out, errOut, status := runLedger(t, url, "export --format log --file "+pipe)
	if status != 0 || out != "" {
		t.Fatalf("into a pipe: status %d, %s%s", status, out, errOut)
	}
	if got := <-received; got != printed {
		t.Errorf("the pipe received\n%s", got)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v, %v", info, err)
	}

	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(target, []byte("old"), 0o600), os.Symlink("target", link)); err != nil {
		t.Fatal(err)
	}
	_, errOut, status = runLedger(t, url, "export --format log --file "+link)
	if to, err := os.Readlink(link); status != 0 || err != nil || to != "target" || readFile(t, target) != printed {
		t.Errorf("through a link: status %d, %s; it leads to %q, %v", status, errOut, to, err)
	}

	_, errOut, status = runLedger(t, url, "export --format log --file "+dir)
	if status != 1 || !strings.Contains(errOut, dir+" is a folder; specify a file") {
		t.Errorf("output is a folder: status %d, %s", status, errOut)
	}
	_, errOut, status = runLedger(t, url, "export --format log --file "+filepath.Join(dir, "none", "x"))
	if status != 1 || !strings.Contains(errOut, "cannot create a file in "+filepath.Join(dir, "none")+": no such") {
		t.Errorf("output in a missing folder: status %d, %s", status, errOut)
	}
}
