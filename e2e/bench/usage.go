package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of processor time in /proc: a hundredth of a second on every
// Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// stat is what /proc/<pid>/stat says of a process.
type stat struct {
	parent                int
	cpuTime, childCPUTime time.Duration // processor time of itself, and of its children that have ended
	programTitle          string
}

// parseStat reads "pid (title) state ppid … utime stime cutime cstime …". The
// title may hold anything, so the last parenthesis counts.
func parseStat(line string) (stat, error) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return stat{}, fmt.Errorf("no process: %.60q", line)
	}
	fields := strings.Fields(line[end+1:])
	if len(fields) < 15 {
		return stat{}, fmt.Errorf("a process with %d fields", len(fields))
	}
	var numbers [5]int64
	for i, at := range [...]int{1, 11, 12, 13, 14} { // ppid, utime, stime, cutime, cstime
		n, err := strconv.ParseInt(fields[at], 10, 64)
		if err != nil {
			return stat{}, err
		}
		numbers[i] = n
	}
	return stat{parent: int(numbers[0]), cpuTime: time.Duration(numbers[1]+numbers[2]) * clockTick,
		childCPUTime: time.Duration(numbers[3]+numbers[4]) * clockTick, programTitle: line[open+1 : end]}, nil
}

func statOf(pid int) (stat, error) {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(line))
}

// cpuTime is what a process has used, all of its threads together.
func cpuTime(pid int) (time.Duration, error) {
	s, err := statOf(pid)
	return s.cpuTime, err
}

// preciseCPUTime is processorTime to the nanosecond, for what takes less than a tick.
func preciseCPUTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/schedstat")
	if err != nil { // not every kernel tells it
		return cpuTime(pid)
	}
	running, _, _ := strings.Cut(string(text), " ")
	nanoseconds, err := strconv.ParseInt(running, 10, 64)
	return time.Duration(nanoseconds), err
}

// processTreeCPUTime is what a process and its children have used, those that have ended
// included.
func processTreeCPUTime(pid int) (time.Duration, error) {
	parent, err := statOf(pid)
	if err != nil {
		return 0, err
	}
	total := parent.cpuTime + parent.childCPUTime
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// One that ends right now is missed here and counted the next time.
		if s, err := statOf(child); err == nil && s.parent == pid {
			total += s.cpuTime
		}
	}
	return total, nil
}

// machineCPUTime is what all processors have been busy with since the machine started.
func machineCPUTime() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return parseMachineCPUTime(string(text))
}

// parseMachineCPUTime reads "cpu user nice system idle iowait irq softirq steal …".
func parseMachineCPUTime(text string) (time.Duration, error) {
	first, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(first)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, fmt.Errorf("no processor times: %.60q", first)
	}
	var busy int64
	for _, at := range [...]int{1, 2, 3, 6, 7, 8} {
		n, err := strconv.ParseInt(fields[at], 10, 64)
		if err != nil {
			return 0, err
		}
		busy += n
	}
	return time.Duration(busy) * clockTick, nil
}

// memory reads a size such as VmRSS or VmHWM of a process, in bytes.
func memory(pid int, name string) (int64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, err
	}
	return parseMemory(string(text), name)
}

// parseMemory finds a line such as "VmRSS:   51234 kB".
func parseMemory(text, name string) (int64, error) {
	for line := range strings.Lines(text) {
		value, ok := strings.CutPrefix(line, name+":")
		if !ok {
			continue
		}
		fields := strings.Fields(value)
		if len(fields) != 2 || fields[1] != "kB" {
			return 0, fmt.Errorf("%s is %q", name, value)
		}
		kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
		return kilobytes << 10, err
	}
	return 0, fmt.Errorf("a process without %s", name)
}
