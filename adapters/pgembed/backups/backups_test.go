package backups

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// writeFiles writes files into a new folder.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// label is the content of backup_label.
func label(start string) string {
	return "START WAL LOCATION: 0/3000028\nSTART TIME: " + start + "\nLABEL: x\n"
}

func TestBaseBackups_List(t *testing.T) {
	t.Parallel()
	// A folder is a backup, or has folders that are: plain ones and archives. One that is being written, and other files, are none of
	// them: it has no manifest yet. Where no backup has one, a plain one is complete with its control file; the size is that of the
	// files then. The time is that of the manifest, or of the label if its zone is known, or of its file.
	manifest := `{"Files": [{"Path": "backup_label", "Size": 100, "Last-Modified": "2026-11-28 02:00:00 GMT"},
		{"Path": "base/1", "Size": 23}]}`
	archive := tarOf(t, func(w *tar.Writer) { addFile(t, w, "backup_label", label("2026-11-27 01:00:00 UTC")) })
	zipped := compressed(t, archive, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	files := map[string]string{
		"plain/backup_label": label("2026-11-28 03:00:00 CET"), "plain/backup_manifest": manifest, "plain/global/pg_control": "x",
		"tar/base.tar": string(archive), "tar/pg_wal.tar": "", "tar/backup_manifest": manifest,
		"damaged/base.tar": string(archive), "damaged/backup_manifest": "{",
		// pg_basebackup runs, and has begun to write the manifest at its end.
		"written/backup_label": label("2026-11-29 03:00:00 UTC"), "written/base/1/2": "x",
		"writtenTar/base.tar.gz": zipped, "writtenTar/pg_wal.tar": "", "begun/base.tar.gz": "",
		"ending/backup_label": label("2026-11-29 03:00:00 UTC"), "ending/global/pg_control": "x", "ending/backup_manifest.tmp": "{",
		"other/readme": "x", "file": "x",
	}
	folder := writeFiles(t, files)
	wantBackups(t, folder, map[string]string{"plain": "2026-11-28 02:00:00 123", "tar": "2026-11-28 02:00:00 123",
		"damaged": fmt.Sprintf("2026-11-27 01:00:00 %d", len(archive)+1)})

	offset, zstandard := label("2026-11-26 03:00:00 +02"), compressed(t, archive, func(w io.Writer) io.WriteCloser {
		z, _ := zstd.NewWriter(w)
		return z
	})
	wantBackups(t, writeFiles(t, map[string]string{
		"offset/backup_label": offset, "offset/global/pg_control": "control", "gzip/base.tar.gz": zipped, "zstd/base.tar.zst": zstandard,
		"written/backup_label": files["written/backup_label"], "written/base/1/2": "x",
		"ending/base.tar": string(archive), "ending/backup_manifest.tmp": "{",
	}), map[string]string{"offset": fmt.Sprintf("2026-11-26 01:00:00 %d", len(offset+"control")),
		"gzip": fmt.Sprintf("2026-11-27 01:00:00 %d", len(zipped)), "zstd": fmt.Sprintf("2026-11-27 01:00:00 %d", len(zstandard))})

	if one, err := (baseBackups{folder: folder + "/plain"}).list(t.Context()); err != nil || len(one) != 1 || one[0].Label != folder+"/plain" {
		t.Errorf("the folder itself: %v, %v", one, err)
	}
	modified := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	if got := beginOf(label("2026-11-28 03:00:00 CET"), modified); got != modified {
		t.Errorf("a zone that is not known: %s", got)
	}
}

// wantBackups compares the backups of a folder: by name, when each was begun, and its bytes.
func wantBackups(t *testing.T, folder string, want map[string]string) {
	t.Helper()
	found, err := baseBackups{folder: folder}.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, b := range found {
		got[filepath.Base(b.Label)] = fmt.Sprintf("%s %d", b.Began.Format(time.DateTime), b.Bytes)
	}
	if len(found) != len(want) || !maps.Equal(got, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}

func TestBaseBackups_Links(t *testing.T) {
	t.Parallel()
	// A backup is found through a link to it or to the folder with it, counts once, and is copied from where it is.
	folder := writeFiles(t, map[string]string{"monday/backup_label": label("2026-11-28 03:00:00 UTC"), "monday/global/pg_control": "control"})
	links := t.TempDir()
	for link, to := range map[string]string{folder + "/latest": "monday", folder + "/gone": "sunday", links + "/all": folder,
		links + "/one": folder + "/latest"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{folder, folder + "/latest", links + "/all", links + "/one"} {
		o := baseBackups{folder: path}
		found, err := o.list(t.Context())
		if err != nil || len(found) != 1 || found[0].Label != folder+"/monday" {
			t.Errorf("%s: %v, %v", path, found, err)
			continue
		}
		to := filepath.Join(t.TempDir(), "copy")
		if _, err := o.copyTo(t.Context(), found[0], to); err != nil {
			t.Error(err)
		}
		if content, err := os.ReadFile(filepath.Join(to, controlFile)); err != nil || string(content) != "control" {
			t.Errorf("%s: %q, %v", path, content, err)
		}
	}
}

func TestBaseBackups_ListErrors(t *testing.T) {
	t.Parallel()
	// No backup, no folder, an archive of something else, and a compression that is not supported are errors that say so.
	other := tarOf(t, func(w *tar.Writer) { addFile(t, w, "readme", "x") })
	for want, folder := range map[string]string{
		"there is no base backup": writeFiles(t, map[string]string{"a/readme": "x"}),
		"one that is complete":    writeFiles(t, map[string]string{"backup_label": label("2026-11-28 03:00:00 UTC")}),
		"no such file":            filepath.Join(t.TempDir(), "missing"),
		"does not begin with":     writeFiles(t, map[string]string{"a/base.tar": string(other)}),
		"gzip: ":                  writeFiles(t, map[string]string{"base.tar.gz": "this is not gzip"}),
	} {
		if found, err := (baseBackups{folder: folder}).list(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want an error with %q", found, err, want)
		}
	}
	if _, err := openArchive(filepath.Join(writeFiles(t, map[string]string{"base.tar.lz4": "x"}), "base")); err == nil ||
		!strings.Contains(err.Error(), "compress with gzip or zstd") {
		t.Errorf("lz4: %v", err)
	}
}

func TestCopyTree_SharesNothing(t *testing.T) {
	t.Parallel()
	// The content of tablespaces and of the logs is copied in place of the links to them; another link is refused.
	elsewhere := writeFiles(t, map[string]string{"PG_15/1": "table", "000000010000000000000001": "log"})
	from := writeFiles(t, map[string]string{"base/1/2": "row", "pg_tblspc/.keep": ""})
	for link, to := range map[string]string{"pg_tblspc/16384": elsewhere, "pg_wal": elsewhere} {
		if err := os.Symlink(to, filepath.Join(from, link)); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(t.TempDir(), "copy")

	if size, err := sizeOf(from); err != nil || size != int64(len("row")+2*len("tablelog")) {
		t.Errorf("a size of %d, %v", size, err)
	}
	if err := copyTree(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}

	for name, want := range map[string]string{"base/1/2": "row", "pg_tblspc/16384/PG_15/1": "table",
		"pg_wal/000000010000000000000001": "log"} {
		if content, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(content) != want {
			t.Errorf("%s: %q, %v", name, content, err)
		}
	}
	for _, name := range []string{"pg_tblspc/16384", "pg_wal"} {
		if info, err := os.Lstat(filepath.Join(to, name)); err != nil || !info.IsDir() {
			t.Errorf("%s is no folder: %v", name, err)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(from, "base/link")); err != nil {
		t.Fatal(err)
	}
	err := copyTree(t.Context(), from, filepath.Join(t.TempDir(), "copy"))
	if err == nil || !strings.Contains(err.Error(), "neither a file nor a folder") {
		t.Errorf("a link: %v", err)
	}
}

func TestExtract_StaysInside(t *testing.T) {
	t.Parallel()
	// A file of an archive is never written outside of the copy, by its name or through a link.
	for name, add := range map[string]func(*tar.Writer){
		"parent":   func(w *tar.Writer) { addFile(t, w, "../outside", "x") },
		"absolute": func(w *tar.Writer) { addFile(t, w, "/tmp/outside", "x") },
		"device": func(w *tar.Writer) {
			if err := w.WriteHeader(&tar.Header{Name: "device", Typeflag: tar.TypeChar}); err != nil {
				t.Error(err)
			}
		},
	} {
		folder := writeFiles(t, map[string]string{"base.tar": string(tarOf(t, add))})
		if err := extract(t.Context(), folder, filepath.Join(folder, "copy")); err == nil {
			t.Errorf("%s: extracted", name)
		}
	}
	outside := t.TempDir()
	folder := writeFiles(t, map[string]string{"base.tar": string(tarOf(t, func(w *tar.Writer) {
		if err := w.WriteHeader(&tar.Header{Name: "pg_tblspc/1", Typeflag: tar.TypeSymlink, Linkname: outside}); err != nil {
			t.Error(err)
		}
		addFile(t, w, "pg_tblspc/1/file", "x")
	}))})
	if err := extract(t.Context(), folder, filepath.Join(folder, "copy")); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("through a link: %v, %v", left, err)
	}
}

func TestLinksInPlace_RefusesOthers(t *testing.T) {
	t.Parallel()
	// A tablespace that was restored beside the files becomes a folder among them; one elsewhere is refused, and not touched.
	folder := writeFiles(t, map[string]string{"tablespaces/16384/PG_15/1": "table", "postgres/pg_tblspc/.keep": ""})
	files := filepath.Join(folder, "postgres")
	if err := os.Symlink(filepath.Join(folder, "tablespaces/16384"), filepath.Join(files, "pg_tblspc/16384")); err != nil {
		t.Fatal(err)
	}
	if err := linksInPlace(files); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(filepath.Join(files, "pg_tblspc/16384/PG_15/1")); err != nil || string(content) != "table" {
		t.Errorf("%q, %v", content, err)
	}
	other := writeFiles(t, map[string]string{"PG_15/1": "table"})
	if err := os.Symlink(other, filepath.Join(files, "pg_tblspc/16385")); err != nil {
		t.Fatal(err)
	}
	if err := linksInPlace(files); err == nil || !strings.Contains(err.Error(), "outside of the folder") {
		t.Errorf("a tablespace elsewhere: %v", err)
	}
	if _, err := os.Stat(filepath.Join(other, "PG_15/1")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"pg_wal", "base/1"} {
		files := writeFiles(t, map[string]string{"pg_tblspc/.keep": "", "base/.keep": ""})
		if err := os.Symlink(other, filepath.Join(files, name)); err != nil {
			t.Fatal(err)
		}
		if err := linksInPlace(files); err == nil || !strings.Contains(err.Error(), name+" of the copy is a link") {
			t.Errorf("%s elsewhere: %v", name, err)
		}
	}
}

func TestStanzaInfo_LastLogOfTheServer(t *testing.T) {
	t.Parallel()
	// The last log is that of the server that was backed up: a server that had the stanza before may have had later names.
	var stanza stanzaInfo
	if err := json.Unmarshal([]byte(`{"name": "main", "archive": [
		{"database": {"id": 1, "repo-key": 1}, "id": "15-1", "max": "000000030000000900000004", "min": "000000010000000000000001"},
		{"database": {"id": 2, "repo-key": 1}, "id": "15-2", "max": "000000010000000000000005", "min": "000000010000000000000001"},
		{"database": {"id": 2, "repo-key": 2}, "id": "15-2", "max": "000000010000000000000003", "min": "000000010000000000000001"}],
		"backup": [{"label": "20261127-020000F", "database": {"id": 1, "repo-key": 1}},
			{"label": "20261128-020000F", "database": {"id": 2, "repo-key": 1}}]}`), &stanza); err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]string{"20261127-020000F": "[000000030000000900000004]",
		"20261128-020000F": "[000000010000000000000005]", "20261129-020000F": "[]"} {
		if got := fmt.Sprint(stanza.lastLog(label)); got != want {
			t.Errorf("%s: %s, want %s", label, got, want)
		}
	}
}

func TestSpace_IsCheckedAndExplained(t *testing.T) {
	t.Parallel()
	// A copy that the disk has no space for is refused before, the logs if its size is not known, and a disk that becomes full is named,
	// also when only a program says so.
	if err := checkSpace(t.TempDir(), math.MaxInt64/2); err == nil || !strings.Contains(err.Error(), "choose another --work-dir") {
		t.Errorf("no space: %v", err)
	}
	if err := checkSpace("/proc", 0); err == nil { // which has no space at all
		t.Error("no space for the logs")
	}
	for _, err := range []error{fmt.Errorf("write: %w", syscall.ENOSPC), errors.New("FATAL: could not write: No space left on device")} {
		if got := explainSpace(err, "/work"); !strings.Contains(got.Error(), "the disk of /work is full") || !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
	if got := explainSpace(errors.New("checksum mismatch"), "/work"); got.Error() != "checksum mismatch" {
		t.Errorf("another error: %v", got)
	}
}

func TestBaseBackups_RestoreCommand(t *testing.T) {
	t.Parallel()
	// The folder of an archive may have any name. Without an archive nothing is found there.
	for want, o := range map[string]baseBackups{
		`cp -- '/mnt/it'\''s 100%%'/%f "%p"`: {archive: "/mnt/it's 100%"},
		"gunzip < /a/%f.gz > %p":             {command: "gunzip < /a/%f.gz > %p"},
		"false":                              {},
	} {
		if got := o.restoreCommand(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestOutput_InterruptedProgramEndsItself(t *testing.T) {
	t.Parallel()
	// A program is asked to end when the context does, so that it can stop its own processes; its end is awaited.
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted, folder := errors.New("interrupted"), t.TempDir()
	go func() {
		for !exists(folder, "began") && t.Context().Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		cancel(interrupted)
	}()

	_, err := output(ctx, "sh", "-c", `cd "$1"; trap 'kill $!; touch ended; exit 1' TERM; sleep 60 & touch began; wait`, "sh", folder)

	if !errors.Is(err, interrupted) || !exists(folder, "ended") {
		t.Errorf("%v, ended %t", err, exists(folder, "ended"))
	}
}

func tarOf(t *testing.T, add func(*tar.Writer)) []byte {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	add(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func addFile(t *testing.T, w *tar.Writer, name, content string) {
	t.Helper()
	err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(content)), Mode: 0o600})
	if err == nil {
		_, err = io.WriteString(w, content)
	}
	if err != nil {
		t.Error(err)
	}
}

func compressed(t *testing.T, content []byte, with func(io.Writer) io.WriteCloser) string {
	t.Helper()
	var text bytes.Buffer
	w := with(&text)
	_, err := w.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
