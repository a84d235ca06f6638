package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// machine is what the figures were measured on. It names no host and no path.
type machine struct {
	cores      int
	processor  string
	memory     int64 // bytes
	kernel     string
	filesystem string
	goVersion  string
	postgres   string
	syncTime   time.Duration // median of writing 8 KiB and fdatasync
}

func describeMachine(dir, postgres string) (machine, error) {
	m := machine{cores: runtime.NumCPU(), goVersion: strings.TrimPrefix(runtime.Version(), "go"), postgres: postgres}
	cpu, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return m, err
	}
	m.processor = lineValue(string(cpu), "model name")
	mem, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return m, err
	}
	if m.memory, err = parseMemory(string(mem), "MemTotal"); err != nil {
		return m, err
	}
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return m, err
	}
	m.kernel = strings.TrimSpace(string(release))
	if m.filesystem, err = filesystemOf(dir); err != nil {
		return m, err
	}
	m.syncTime, err = syncTime(dir)
	return m, err
}

// lineValue finds "name   : value".
func lineValue(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

const (
	tmpfsMagic = 0x01021994
	ramfsMagic = 0x858458f6
)

var filesystemNames = map[int64]string{
	tmpfsMagic: "tmpfs", ramfsMagic: "ramfs", 0xEF53: "ext4", 0x58465342: "xfs", 0x9123683E: "btrfs", 0x794c7630: "overlayfs", 0x2fc12fc1: "zfs",
}

func filesystemOf(dir string) (string, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "", err
	}
	kind := s.Type
	if name, ok := filesystemNames[kind]; ok {
		return name, nil
	}
	return "type 0x" + strconv.FormatInt(kind, 16), nil
}

// diskFolder is where the run keeps its data: a temporary folder that is on a disk,
// because a commit in memory costs nothing.
func diskFolder() (string, error) {
	for _, dir := range []string{os.TempDir(), "/var/tmp"} {
		var s syscall.Statfs_t
		if err := syscall.Statfs(dir, &s); err != nil {
			continue
		}
		if kind := s.Type; kind != tmpfsMagic && kind != ramfsMagic {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%s and /var/tmp are in memory: name a folder on a disk in TMPDIR", os.TempDir())
}

// syncTime is what the disk takes for what every commit waits for.
func syncTime(dir string) (time.Duration, error) {
	f, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	page := make([]byte, 8<<10)
	const pages, rounds = 64, 200
	for range pages {
		if _, err := f.Write(page); err != nil {
			return 0, err
		}
	}
	took := make([]time.Duration, rounds)
	for i := range took {
		begin := time.Now()
		if _, err := f.WriteAt(page, int64(i%pages)*int64(len(page))); err != nil {
			return 0, err
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			return 0, err
		}
		took[i] = time.Since(begin)
	}
	return latencyOf(took).p50, nil
}

// postgresVersion asks a server for its version.
func postgresVersion(ctx context.Context, m *meter) (string, error) {
	var version string
	err := m.conn.QueryRow(ctx, "SELECT split_part(current_setting('server_version'), ' ', 1)").Scan(&version)
	return version, err
}
