package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// measureSealing starts the service on a ledger of which nothing is sealed, and waits until
// all is sealed and published.
func (p *pastMonth) measureSealing(ctx context.Context) {
	began := time.Now()
	p.start(ctx)
	p.verifierKey = p.full.awaitSealed(ctx, true)
	took := time.Since(began)
	if p.includes("proof") {
		p.addProof("Sealed by the service", took, peakMemory(p.process.PID()))
	}
}

func (p *pastMonth) addProof(name string, took time.Duration, memory byteSize) {
	p.report.add(ledgerLog, name, took, formatRate(int64(len(p.postingIDs)), took), memory)
}

// measureProof verifies the ledger in the database and in an export, and reads proofs.
func (p *pastMonth) measureProof(ctx context.Context) {
	size := queryIn[struct{ Bytes float64 }](ctx, p.meter, pastMonthDatabase, "SELECT pg_total_relation_size('ledger_log_tiles')::float8")
	p.report.add(ledgerLog, "Bytes for each posting in the log's tiles and their index",
		fmt.Sprintf("%.1f", size[0].Bytes/float64(len(p.postingIDs))))
	path := filepath.Join(p.folder, "ledger.log")
	defer os.Remove(path)
	trusted := []string{"--checkpoints", p.checkpointsDir, "--key", p.verifierKey}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"`causeway ledger verify`, on the database in use", append([]string{"ledger", "verify"}, trusted...)},
		{"`causeway ledger export --format log`",
			[]string{"ledger", "export", "--format", "log", "--platform", p.full.id.String(), "--output", path}},
		{"`causeway ledger verify --export`, without a database", append([]string{"ledger", "verify", "--export", path}, trusted...)},
	} {
		result := p.command(ctx, c.args...)
		p.addProof(c.name, result.Duration, byteSize(result.PeakMemory))
	}
	l := timed(2_000, func() time.Duration {
		posting := p.postingIDs[rand.IntN(len(p.postingIDs))]
		response := p.full.get(ctx, "/ledger/log/proof?postingId=Posting:"+posting.String())
		check(checkInclusion(response.Body))
		return response.Duration
	})
	p.report.add(ledgerLog, "`GET /ledger/log/proof`, 2000 times, "+latencyColumn, l)
}

// checkInclusion checks a proof against the root of its checkpoint.
func checkInclusion(body []byte) error {
	var proof struct {
		LeafIndex  int64
		Leaf       []byte
		Hashes     [][]byte
		Checkpoint struct {
			Size     int64
			RootHash []byte
		}
	}
	if err := json.Unmarshal(body, &proof); err != nil {
		return err
	}
	root := tlog.Hash{}
	copy(root[:], proof.Checkpoint.RootHash)
	path := make(tlog.RecordProof, len(proof.Hashes))
	for i, hash := range proof.Hashes {
		copy(path[i][:], hash)
	}
	return tlog.CheckRecord(path, proof.Checkpoint.Size, root, proof.LeafIndex, tlog.RecordHash(proof.Leaf))
}
