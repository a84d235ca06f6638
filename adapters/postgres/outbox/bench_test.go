package outbox

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkAppend stores groups of events in commits of their own.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1, 30, 300} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			ctx := context.Background()
			env := newTestEnv(b)
			platform := env.createPlatform("http://127.0.0.1:1/")
			conn := env.connect()
			for b.Loop() {
				tx, err := conn.Begin(ctx)
				if err != nil {
					b.Fatal(err)
				}
				if err := Append(ctx, tx, env.newRows(platform, size, 3, 1200)); err != nil {
					b.Fatal(err)
				}
				if err := tx.Commit(ctx); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*size), "µs/event")
		})
	}
}
