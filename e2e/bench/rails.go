package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"causeway/adapters/pgembed"
	"causeway/e2e/kit"
)

// railPayouts is how many payouts the file of a bank has.
const railPayouts = 100_000

// measureRails runs the Go benchmarks of connections, each of which has a partner or chain of its own.
func (b *bench) measureRails(ctx context.Context) {
	logf("measuring files for banks and deposits on a chain")
	files := must(b.goBenchmark(ctx, "./adapters/rails/bankfile", "BenchmarkFile", "-bank-payouts", strconv.Itoa(railPayouts)))
	for _, format := range []string{"pain.001", "Nacha"} {
		m, found := files["BenchmarkFile/"+format]
		if !found {
			failf("the benchmark of files for banks has not measured %s", format)
		}
		taking, delivering := seconds(m["s/orders"]), seconds(m["s/file"])
		b.report.add(railsOfProduction, fmt.Sprintf("%d payouts are taken for one %s file", railPayouts, format), taking, "", "",
			judge(goalBankFile, taking))
		b.report.add(railsOfProduction, "They are put into the file, which is delivered to a folder", delivering, megabytes(m["MB/file"]),
			megabytes(m["MB-heap"]), judge(goalBankFile, delivering))
	}
	chain := must(b.goBenchmark(ctx, "./e2e", "BenchmarkEVM_ThousandDeposits"))
	m, found := chain["BenchmarkEVM_ThousandDeposits"]
	if !found {
		failf("the benchmark of deposits has measured nothing")
	}
	took := time.Duration(m["ns/op"])
	b.report.add(railsOfProduction, "1000 deposits in one block are read from the chain and credited", took, "", "", judge(goalDeposits, took))
	b.measureLightning(ctx)
	b.measureUMA(ctx)
}

// measureUMA runs the benchmark of payments between two installations.
func (b *bench) measureUMA(ctx context.Context) {
	m := b.countedBenchmark(ctx, "BenchmarkUMA_Payments")["BenchmarkUMA_Payments"]
	if m["payments/s"] <= 0 {
		failf("the benchmark of UMA has measured nothing")
	}
	b.report.add(railsOfProduction, fmt.Sprintf("A payment is made between two installations by UMA: %.1f statements and %.1f commits "+
		"of both, %.0f a second", m["statements/payment"], m["commits/payment"], m["payments/s"]), seconds(1/m["payments/s"]))
}

// countedBenchmark runs a benchmark on a server of its own, which counts statements.
func (b *bench) countedBenchmark(ctx context.Context, name string) map[string]map[string]float64 {
	folder := filepath.Join(b.folder, name)
	server := must(pgembed.Start(ctx, pgembed.Options{Dir: folder, Throwaway: true, Settings: map[string]string{
		"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track_utility": "off"}}))
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		check(server.Stop(ctx))
	}()
	superuser, running := pgembed.RunningSuperuserURL(folder)
	if !running {
		failf("the server of %s has stopped", name)
	}
	const postgresOfTests = "CAUSEWAY_TEST_POSTGRES"
	check(os.Setenv(postgresOfTests, superuser))
	defer func() { check(os.Unsetenv(postgresOfTests)) }()
	return must(b.goBenchmark(ctx, "./e2e", name))
}

// measureLightning runs the benchmark of payouts over nodes of the Lightning network.
func (b *bench) measureLightning(ctx context.Context) {
	nodes := must(b.goBenchmark(ctx, "./adapters/rails/lightning", "BenchmarkSend"))
	for _, node := range []string{"LND", "phoenixd"} {
		m, found := nodes["BenchmarkSend/"+node]
		if !found || m["payments/s"] <= 0 {
			failf("the benchmark of Lightning has not measured %s", node)
		}
		cost := fmt.Sprintf("%.1f statements and %.2f commits, %.0f a second", m["statements/payment"], m["commits/payment"], m["payments/s"])
		b.report.add(railsOfProduction, "A payout is made over Lightning with "+node+": "+cost, seconds(1/m["payments/s"]))
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
func megabytes(size float64) byteSize { return byteSize(size * 1e6) }

// goBenchmark runs a Go benchmark once, and returns what it measured, by its name and unit.
func (b *bench) goBenchmark(ctx context.Context, pkg, name string, flags ...string) (map[string]map[string]float64, error) {
	args := append([]string{"test", "-run", "^$", "-bench", "^" + name + "$", "-benchtime", "1x", pkg}, flags...)
	command := exec.CommandContext(ctx, "go", args...)
	command.Env = append(kit.CleanEnv(), "CAUSEWAY_BIN="+b.binary)
	out, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", command, err, out)
	}
	return parseBenchmarks(string(out))
}

// parseBenchmarks reads the output of go test -bench: lines with a name and the number of processors, how often it ran,
// and values with their units.
func parseBenchmarks(out string) (map[string]map[string]float64, error) {
	measured := map[string]map[string]float64{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := fields[0]
		if i := strings.LastIndex(name, "-"); i > 0 {
			name = name[:i]
		}
		measured[name] = map[string]float64{}
		for i := 2; i < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%q is no line of a benchmark: %w", line, err)
			}
			measured[name][fields[i+1]] = value
		}
	}
	if len(measured) == 0 {
		return nil, errors.New("the benchmark has measured nothing")
	}
	return measured, nil
}
