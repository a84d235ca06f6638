package backups

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"causeway/adapters/pgembed"
	"causeway/core/backup"
)

// baseBackups are backups of pg_basebackup.
type baseBackups struct{ folder, archive, command string }

const (
	labelFile    = "backup_label"
	manifestFile = "backup_manifest"
	controlFile  = "global/pg_control"
)

// list implements origin.
func (o baseBackups) list(ctx context.Context) ([]backup.Backup, error) {
	folders, err := o.folders()
	if err != nil {
		return nil, fmt.Errorf("the base backups: %w", err)
	}
	// The manifest is written last. Where others have one, a backup without it is not complete, which its files cannot tell in a tar.
	for _, isComplete := range []func(folder string) bool{hasManifest, mayBeComplete} {
		var found []backup.Backup
		for _, folder := range folders {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if !isComplete(folder) {
				continue
			}
			b, ok, err := readBase(folder)
			if err != nil {
				return nil, err
			}
			if ok {
				found = append(found, b)
			}
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, fmt.Errorf("there is no base backup in %s: neither it nor a folder in it has a file %s or base.tar of one that is complete",
		o.folder, labelFile)
}

// folders returns where a backup may be: the folder itself if there is one, or those in it. Links, such as latest, are followed, and
// two names of a folder count once.
func (o baseBackups) folders() ([]string, error) {
	root, err := filepath.EvalSymlinks(o.folder)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, entry := range entries {
		if name, isTar := cutTar(entry.Name()); entry.Name() == labelFile || isTar && name == "base" {
			return []string{root}, nil
		}
		folder, err := filepath.EvalSymlinks(filepath.Join(root, entry.Name()))
		if err != nil {
			continue // a link to nothing
		}
		if info, err := os.Stat(folder); err == nil && info.IsDir() && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	return folders, nil
}

func exists(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

func hasManifest(folder string) bool { return exists(folder, manifestFile) }

// mayBeComplete reports whether a backup without a manifest may have been written to its end: pg_basebackup can leave the manifest
// out, and writes the control file as the last one of the server.
func mayBeComplete(folder string) bool {
	return !exists(folder, manifestFile+".tmp") && (!exists(folder, labelFile) || exists(folder, controlFile))
}

// readBase reads the description of the backup in a folder. It reports false if there is none.
func readBase(folder string) (backup.Backup, bool, error) {
	b := backup.Backup{Label: folder}
	label, modified, err := readLabel(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return b, false, nil
	}
	if err != nil {
		return b, false, fmt.Errorf("%s: %w", folder, err)
	}
	b.Began = beginOf(label, modified)
	manifest, err := readManifest(folder)
	if err != nil {
		// It is a backup all the same, and pg_verifybackup will say what is wrong with its manifest. The copy has at least these bytes,
		// more if they are compressed; if one of them cannot be read, the copy will say it.
		b.Bytes, _ = sizeOf(folder)
		return b, true, nil //nolint:nilerr // as said
	}
	b.Bytes = manifest.bytes
	if !manifest.began.IsZero() {
		b.Began = manifest.began
	}
	return b, true, nil
}

// readLabel returns the content of backup_label, and when it was written.
func readLabel(folder string) (text string, modified time.Time, err error) {
	path := filepath.Join(folder, labelFile)
	if info, err := os.Stat(path); err == nil {
		content, err := os.ReadFile(path)
		return string(content), info.ModTime(), err
	}
	archive, err := openArchive(filepath.Join(folder, "base"))
	if err != nil {
		return "", modified, err
	}
	defer archive.Close()
	header, err := archive.Next() // pg_basebackup writes it first
	if err != nil || header.Name != labelFile {
		return "", modified, fmt.Errorf("base.tar does not begin with %s: %w", labelFile, errors.Join(err, errNoBackup))
	}
	content, err := io.ReadAll(io.LimitReader(archive, 64<<10))
	return string(content), header.ModTime, err
}

var errNoBackup = errors.New("it is not of pg_basebackup")

// beginOf returns when a backup was begun, from its label. The name of a zone other than UTC is ambiguous there.
func beginOf(label string, modified time.Time) time.Time {
	for line := range strings.Lines(label) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "START TIME: ")
		if !ok {
			continue
		}
		for _, layout := range []string{"2006-01-02 15:04:05 UTC", "2006-01-02 15:04:05 GMT", "2006-01-02 15:04:05 -07"} {
			if at, err := time.Parse(layout, text); err == nil {
				return at.UTC()
			}
		}
	}
	return modified.UTC()
}

// manifest is what backup_manifest says.
type manifest struct {
	began time.Time // when backup_label was written
	bytes int64
}

func readManifest(folder string) (m manifest, err error) {
	f, err := os.Open(filepath.Join(folder, manifestFile))
	if err != nil {
		return m, err
	}
	defer f.Close()
	var content struct {
		Files []struct {
			Path         string
			Size         int64
			LastModified string `json:"Last-Modified"`
		}
	}
	if err := json.NewDecoder(bufio.NewReader(f)).Decode(&content); err != nil {
		return m, fmt.Errorf("%s: %w", f.Name(), err)
	}
	for _, file := range content.Files {
		m.bytes += file.Size
		if file.Path == labelFile {
			m.began, _ = time.Parse("2006-01-02 15:04:05 GMT", file.LastModified) // zero if it is not of this form
		}
	}
	return m, nil
}

// copyTo implements origin.
func (o baseBackups) copyTo(ctx context.Context, b backup.Backup, folder string) (string, error) {
	var err error
	if _, statErr := os.Stat(filepath.Join(b.Label, labelFile)); statErr == nil {
		err = copyTree(ctx, b.Label, folder)
	} else {
		err = extract(ctx, b.Label, folder)
	}
	if err == nil {
		err = compareWithManifest(ctx, folder)
	}
	if err != nil {
		return "", fmt.Errorf("copy %s: %w", b.Label, err)
	}
	return o.restoreCommand(), nil
}

// restoreCommand returns the command that fetches a file of the archive; it fails if there is none.
func (o baseBackups) restoreCommand() string {
	switch {
	case o.command != "":
		return o.command
	case o.archive != "":
		quoted := strings.ReplaceAll(strings.ReplaceAll(o.archive, "%", "%%"), "'", `'\''`)
		return "cp -- '" + quoted + `'/%f "%p"`
	default:
		return "false"
	}
}

// compareWithManifest compares every file of a copy with its checksum in the manifest, if it has one. The logs are not compared
// there: recovery reads them, and they may be in the archive only.
func compareWithManifest(ctx context.Context, folder string) error {
	if _, err := os.Stat(filepath.Join(folder, manifestFile)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	version, err := pgembed.Version(folder)
	if err != nil {
		return err
	}
	program, err := pgembed.ProgramOf(version, "pg_verifybackup")
	if err != nil {
		return err
	}
	return run(ctx, program, "--quiet", "--no-parse-wal", folder)
}

// run runs a program to its end; the error has what it has said.
func run(ctx context.Context, program string, args ...string) error {
	_, err := output(ctx, program, args...)
	return err
}

// maxSaid is how much of what a program says is repeated in an error.
const maxSaid = 1500

func output(ctx context.Context, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	// A program that is killed leaves its own processes, which would write to a copy that is being removed.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		text := strings.TrimSpace(said.String() + "\n" + string(out))
		if len(text) > maxSaid {
			text = strings.ToValidUTF8(text[:maxSaid], "") + " …"
		}
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(program), err, text)
	}
	return out, nil
}

// archived implements origin. What another command fetches cannot be listed.
func (o baseBackups) archived(context.Context, backup.Backup) (backup.Segments, error) {
	if o.archive == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(o.archive)
	if err != nil {
		return nil, fmt.Errorf("the archive of write-ahead logs: %w", err)
	}
	names := make(backup.Segments, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names, nil
}
