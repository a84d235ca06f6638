package bankfile_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/core/corridor"
	"causeway/ports"
)

var benchPayouts = flag.Int("bank-payouts", 100_000, "payouts of a file in BenchmarkFile")

// BenchmarkFile takes payouts as jobs give them (a hundred at once, by four workers), and delivers one file with all of them
// to a folder. It reports the time of each half, the size of the file and the largest heap of the process.
func BenchmarkFile(b *testing.B) {
	for name, r := range map[string]corridor.Rail{"pain.001": corridor.SEPA, "Nacha": corridor.ACH} {
		b.Run(name, func(b *testing.B) {
			d, folder := openDatabase(b), makeFolders(b)
			c := europe("bank", folder)
			if r == corridor.ACH {
				c = america("bank", folder)
			}
			c.Settings["maxPayments"], c.Settings["cutEvery"] = strconv.Itoa(*benchPayouts), "1h"
			a := d.open(b, c, d.Store, nil)
			b.Cleanup(func() { _ = a.Close() })
			highest := watchHeap(b)
			var sending, delivering time.Duration
			series := 0
			for b.Loop() {
				series++
				started := time.Now()
				d.giveOrders(b, a, "bench "+strconv.Itoa(series), *benchPayouts, r)
				sending += time.Since(started)
				started = time.Now()
				for more := true; more; {
					report, err := a.Poll(b.Context(), "")
					if err != nil {
						b.Fatal(err)
					}
					more = report.More
				}
				delivering += time.Since(started)
			}
			files, err := filepath.Glob(filepath.Join(folder, "out", "*"))
			if err != nil || len(files) != series {
				b.Fatalf("%v, %v", files, err)
			}
			file, err := os.Stat(files[0])
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(sending.Seconds()/float64(series), "s/orders")
			b.ReportMetric(delivering.Seconds()/float64(series), "s/file")
			b.ReportMetric(float64(file.Size())/1e6, "MB/file")
			b.ReportMetric(float64(highest())/1e6, "MB-heap")
		})
	}
}

// giveOrders gives payouts of a series to an adapter.
func (d database) giveOrders(b *testing.B, rail ports.Rail, series string, n int, r corridor.Rail) {
	b.Helper()
	const size, workers = 100, 4
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for {
				from := int(next.Add(size)) - size
				if from >= n {
					return
				}
				payouts := make([]ports.Payout, min(size, n-from))
				for i := range payouts {
					payouts[i] = d.payout(series, from+i, r)
				}
				if !waiting(rail.Send(b.Context(), payouts)) {
					b.Error("payouts were not taken")
					return
				}
			}
		})
	}
	group.Wait()
}

// watchHeap returns a function that ends the watch and returns the most memory that the heap has had.
func watchHeap(b *testing.B) (highest func() uint64) {
	b.Helper()
	stop, result := make(chan struct{}), make(chan uint64)
	go func() {
		most := uint64(0)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
			metrics.Read(samples)
			most = max(most, samples[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-stop:
				result <- most
				return
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-result
	}
}
