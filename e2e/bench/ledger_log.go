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
func (p *closedPeriodEnv) measureSealing(ctx context.Context) error {
	began := time.Now()
	if err := p.start(ctx); err != nil {
		return err
	}
	var err error
	if p.verifierKey, err = p.monthTenant.awaitSealed(ctx, true); err != nil {
		return err
	}
	took := time.Since(began)
	peak, err := peakMemory(p.process.PID())
	logf("sealed in %s, %s", formatDuration(took), peak)
	if p.includes("proof") {
		p.addProof("Sealed by the service", took, peak)
	}
	return err
}

func (p *closedPeriodEnv) addProof(name string, took time.Duration, memory byteSize) {
	p.report.add(proofSection, name, took, formatRate(int64(len(p.postingIDs)), took), memory)
}

// measureProof verifies the ledger in the database and in an export, and reads proofs.
func (p *closedPeriodEnv) measureProof(ctx context.Context) error {
	var size int64
	if err := p.env.meter.queryIn(ctx, closedPeriodDatabase, "SELECT pg_total_relation_size('ledger_log_tiles')", &size); err != nil {
		return err
	}
	p.report.add(proofSection, "Bytes for each posting in the log's tiles and their index", fmt.Sprintf("%.1f", float64(size)/float64(len(p.postingIDs))))
	path := filepath.Join(p.env.folder, "ledger.log")
	defer os.Remove(path)
	trusted := []string{"--checkpoints", p.checkpointsDir, "--key", p.verifierKey}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"`causeway ledger verify`, on the database in use", append([]string{"ledger", "verify"}, trusted...)},
		{"`causeway ledger export --format log`", []string{"ledger", "export", "--format", "log", "--platform", p.monthTenant.id.String(), "--output", path}},
		{"`causeway ledger verify --export`, without a database", append([]string{"ledger", "verify", "--export", path}, trusted...)},
	} {
		result, err := p.command(ctx, c.args...)
		if err != nil {
			return err
		}
		logf("%s: %s, %s", c.name, formatDuration(result.Duration), byteSize(result.PeakMemory))
		p.addProof(c.name, result.Duration, byteSize(result.PeakMemory))
	}
	c, err := dial(ctx, p.address)
	if err != nil {
		return err
	}
	defer c.close()
	l, err := timed(2_000, func() (time.Duration, error) {
		posting := p.postingIDs[rand.IntN(len(p.postingIDs))]
		body, took, err := c.get(p.monthTenant.target, "/ledger/log/proof?postingId=Posting:"+posting.String())
		if err == nil {
			err = checkInclusion(body)
		}
		return took, err
	})
	p.report.add(proofSection, "`GET /ledger/log/proof`, 2000 times, "+latencyColumn, l)
	return err
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
	if len(proof.Checkpoint.RootHash) != tlog.HashSize {
		return fmt.Errorf("a root of %d bytes", len(proof.Checkpoint.RootHash))
	}
	path := make(tlog.RecordProof, len(proof.Hashes))
	for i, hash := range proof.Hashes {
		copy(path[i][:], hash)
	}
	return tlog.CheckRecord(path, proof.Checkpoint.Size, tlog.Hash(proof.Checkpoint.RootHash), proof.LeafIndex, tlog.RecordHash(proof.Leaf))
}
