package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestLedgerExport_RepeatableInEveryFormat(t *testing.T) {
	t.Parallel()
	// Each format is written into the file that is named, the same to the byte a second
	// time and by the moment that stands in it; a file that was there is replaced.
	url := seededDatabase(t)
	dir := t.TempDir()
	for format, begins := range map[string]string{
		"csv": "posting_number,", "hledger": "; Books of " + fakePlatform, "ledger": "; Books of " + fakePlatform,
		"beancount": "; Books of " + fakePlatform, "camt053": "<?xml ",
	} {
		path := filepath.Join(dir, format)
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, complaint, status := runLedger(t, url, "export --format "+format+" --output "+path)
		if status != 0 || complaint != "" || !strings.HasPrefix(out, path+": ") {
			t.Errorf("%s: status %d, %s%s", format, status, out, complaint)
		}
		first := readFile(t, path)
		if !strings.HasPrefix(first, begins) || !strings.Contains(first, "2026-") {
			t.Errorf("%s begins %.200s", format, first)
		}
		_, complaint, status = runLedger(t, url, "export --format "+format+" --output "+path+" --platform "+fakePlatform+" --as-of "+exportedAsOf(t, dir, url))
		if again := readFile(t, path); status != 0 || again != first {
			t.Errorf("%s: a second time it is another: %s", format, complaint)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// exportedAsOf is the one that a sheet of the books says it is of.
func exportedAsOf(t *testing.T, dir, url string) string {
	t.Helper()
	path := filepath.Join(dir, "moment")
	if _, complaint, status := runLedger(t, url, "export --format csv --output "+path); status != 0 {
		t.Fatal(complaint)
	}
	text := strings.TrimSpace(readFile(t, path))
	return text[strings.LastIndex(text, ",")+1:]
}

func TestLedgerExport_ReportsInvalidFlags(t *testing.T) {
	t.Parallel()
	// What is asked wrongly is answered with the flags, all of them, and no file is
	// written nor touched.
	url := seededDatabase(t)
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, wants := range map[string][]string{
		"--format csv --as-of yesterday --from x":                                     {"--as-of must be a moment", "--from must be a moment"},
		"--format xls --as-of 2999-01-01T00:00:00Z --account x --currency xyz":        {"--format must be one of csv", "--as-of must not lie in the future", "--account must be the path", "--currency must be"},
		"--format csv --account rails/FEDNOW":                                         {"--account had not been posted to"},
		"--format csv --platform Customer:1":                                          {"--platform: malformed id"},
		"--format csv --platform " + strings.Replace(fakePlatform, "0001", "0009", 1): {"--platform: there is no PlatformConfig"},
		"--format camt053 --currency BTC":                                             {"--currency must be one of ISO 4217"},
		"":                                                                            {"--format"},
	} {
		_, complaint, status := runLedger(t, url, "export --output "+path+" "+args)
		for _, want := range wants {
			if status == 0 || !strings.Contains(complaint, want) {
				t.Errorf("%s: status %d, %s; want %s", args, status, complaint, want)
			}
		}
		if got := readFile(t, path); got != "old" {
			t.Errorf("%s: the file is %q", args, got)
		}
	}
	if _, complaint, status := runLedger(t, url, "export --format csv --output "+filepath.Join(path, "below")); status == 0 {
		t.Errorf("into a file: %s", complaint)
	}
}

func TestLedgerExport_OutputToPipeLinkAndFolder(t *testing.T) {
	t.Parallel()
	// A device or a pipe is written into and stays what it is, a link stays too and the file
	// behind it is replaced, and a folder is refused.
	url := seededDatabase(t)
	dir := t.TempDir()
	printed, _, status := runLedger(t, url, "export --format log --output -")
	if _, err := os.Stat("-"); status != 0 || !strings.HasSuffix(printed, "\n") || err == nil {
		t.Errorf("to standard output: status %d, %s", status, printed)
	}

	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	arrived := make(chan string)
	go func() {
		text, _ := os.ReadFile(pipe)
		arrived <- string(text)
	}()
	out, complaint, status := runLedger(t, url, "export --format log --output "+pipe)
	if status != 0 || out != "" {
		t.Fatalf("into a pipe: status %d, %s%s", status, out, complaint)
	}
	if got := <-arrived; got != printed {
		t.Errorf("into a pipe went\n%s", got)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v, %v", info, err)
	}

	behind, link := filepath.Join(dir, "behind"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(behind, []byte("old"), 0o600), os.Symlink("behind", link)); err != nil {
		t.Fatal(err)
	}
	_, complaint, status = runLedger(t, url, "export --format log --output "+link)
	if to, err := os.Readlink(link); status != 0 || err != nil || to != "behind" || readFile(t, behind) != printed {
		t.Errorf("through a link: status %d, %s; it leads to %q, %v", status, complaint, to, err)
	}

	_, complaint, status = runLedger(t, url, "export --format log --output "+dir)
	if status != 1 || !strings.Contains(complaint, dir+" is a folder; name a file in it") {
		t.Errorf("into a folder: status %d, %s", status, complaint)
	}
	_, complaint, status = runLedger(t, url, "export --format log --output "+filepath.Join(dir, "none", "x"))
	if status != 1 || !strings.Contains(complaint, "--output: no file can be made in "+filepath.Join(dir, "none")+": no such") {
		t.Errorf("into no folder: status %d, %s", status, complaint)
	}
}

func TestWriteFileAtomically_KeepsOldFileOnError(t *testing.T) {
	t.Parallel()
	// A file that could not be written whole is not there, and what was there before is.
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	broken := errors.New("broken")
	fail := func(out io.Writer) error {
		_, err := out.Write(bytes.Repeat([]byte("x"), 1<<20))
		return errors.Join(err, broken)
	}
	if err := writeFileAtomically(path, fail); !errors.Is(err, broken) {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("there is %v", entries)
	}
	if err := writeFileAtomically(path, func(out io.Writer) error { _, err := out.Write([]byte("whole")); return err }); err != nil {
		t.Fatal(err)
	}
	if err := writeFileAtomically(path, fail); !errors.Is(err, broken) || readFile(t, path) != "whole" {
		t.Errorf("%v, %q", err, readFile(t, path))
	}
}
