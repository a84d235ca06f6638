package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"causeway/e2e/kit"
)

// clockTick is the unit of processor time in /proc on every Linux that Go supports.
const clockTick = 10 * time.Millisecond

func statOf(pid int) (procfs.ProcStat, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return process.Stat()
}

// cpuTime returns the processor time that a process has used.
func cpuTime(pid int) (time.Duration, error) {
	s, err := statOf(pid)
	return time.Duration(s.UTime+s.STime) * clockTick, err
}

// preciseCPUTime is cpuTime in nanoseconds, for what takes less than a tick.
func preciseCPUTime(pid int) (time.Duration, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	s, err := process.Schedstat()
	if err != nil { // not every kernel has it
		return cpuTime(pid)
	}
	return time.Duration(s.RunningNanoseconds), nil
}

// processTreeCPUTime returns the processor time that a process and its children have used,
// including children that have ended.
func processTreeCPUTime(pid int) (time.Duration, error) {
	parent, err := statOf(pid)
	if err != nil {
		return 0, err
	}
	total := time.Duration(parent.UTime+parent.STime)*clockTick + time.Duration(parent.CUTime+parent.CSTime)*clockTick
	processes, err := procfs.AllProcs()
	if err != nil {
		return 0, err
	}
	for _, p := range processes {
		// A process that ends now is missed here and counted in the parent the next time.
		if s, err := p.Stat(); err == nil && s.PPID == pid {
			total += time.Duration(s.UTime+s.STime) * clockTick
		}
	}
	return total, nil
}

// machineCPUTime returns the time that all processors have been busy since the machine started.
func machineCPUTime() (time.Duration, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, err
	}
	s, err := fs.Stat()
	c := s.CPUTotal
	return time.Duration((c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal) * float64(time.Second)), err
}

// memoryGrowth is the memory of a running process before an operation, and its maximum
// during it.
type memoryGrowth struct{ before, peak byteSize }

func (g memoryGrowth) String() string {
	if g.before == 0 {
		return g.peak.String()
	}
	return g.peak.String() + ", before " + g.before.String()
}

// measureMemoryGrowth runs an operation that a process works on.
func measureMemoryGrowth(pid int, do func() error) (g memoryGrowth, err error) {
	const resetPeak = "5"
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(resetPeak), 0); err != nil {
		return g, err
	}
	if g.before, err = peakMemory(pid); err != nil {
		return g, err
	}
	if err := do(); err != nil {
		return g, err
	}
	g.peak, err = peakMemory(pid)
	return g, err
}

func peakMemory(pid int) (byteSize, error) {
	bytes, err := kit.Memory(pid, "VmHWM")
	return byteSize(bytes), err
}

const (
	tmpfsMagic = 0x01021994
	ramfsMagic = 0x858458f6
)

// diskFolder returns a temporary folder on a disk, because a commit in memory costs nothing.
func diskFolder() (string, error) {
	for _, dir := range []string{os.TempDir(), "/var/tmp"} {
		var s syscall.Statfs_t
		if err := syscall.Statfs(dir, &s); err == nil && s.Type != tmpfsMagic && s.Type != ramfsMagic {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%s and /var/tmp are in memory: set TMPDIR to a folder on a disk", os.TempDir())
}

// addConditions adds what the figures were measured on, without host name or path.
func (b *bench) addConditions(postgres string) error {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return err
	}
	cpu, err := fs.CPUInfo()
	if err != nil {
		return err
	}
	memory, err := fs.Meminfo()
	if err != nil {
		return err
	}
	synced, err := syncTime(b.env.folder)
	if err != nil {
		return err
	}
	for _, row := range [][2]string{
		{"Date", time.Now().UTC().Format("2006-01-02 15:04 MST")},
		{"Command", fmt.Sprintf("`make bench`, %d s of ramps, %d customers", b.seconds, b.customerCount)},
		{"Processor", fmt.Sprintf("%s, %d cores", cpu[0].ModelName, runtime.NumCPU())},
		{"Memory", fmt.Sprintf("%.0f GB", float64(*memory.MemTotal)*1024/1e9)},
		{"Disk", "a synced write of 8 KiB takes " + formatDuration(synced)},
		{"Go", strings.TrimPrefix(runtime.Version(), "go")}, {"Postgres", postgres},
	} {
		b.report.add(conditions, row[0], row[1])
	}
	return nil
}

// syncTime returns how long the disk takes for a synced write, which every commit needs.
func syncTime(dir string) (time.Duration, error) {
	file, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	page := make([]byte, 8<<10)
	const pages = 64
	if _, err := file.Write(make([]byte, pages*len(page))); err != nil {
		return 0, err
	}
	i := 0
	l, err := timed(200, func() (time.Duration, error) {
		i++
		start := time.Now()
		if _, err := file.WriteAt(page, int64(i%pages)*int64(len(page))); err != nil {
			return 0, err
		}
		err := syscall.Fdatasync(int(file.Fd()))
		return time.Since(start), err
	})
	return l.p50, err
}
