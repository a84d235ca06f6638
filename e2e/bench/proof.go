package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/tlog"
)

// proofResults is what it takes to prove that the books are what they were.
type proofResults struct {
	postings            int64
	sealDuration        time.Duration
	sealMemory          int64   // memory of the service meanwhile
	tileBytesPerPosting float64 // bytes a posting
	verify, export      commandResult
	exportBytes         int64         // the size of the export
	verifyExport        commandResult // verify of that file, without a database
	inclusionLatency    latency
	proofCount          int
}

// logState is how the service says that the log stands.
type logState struct {
	Postings, Sealed, Published int64
	Keys                        []struct{ VerifierKey string }
}

// measureSealing starts the service on books that nothing is sealed of, and waits until
// the log has caught up.
func (b *bench) measureSealing(ctx context.Context, p *closedPeriodEnv) error {
	begin := time.Now()
	if err := p.startService(ctx, b.binary, b.env.folder); err != nil {
		return err
	}
	c, err := dial(ctx, p.monthTenant.address)
	if err != nil {
		return err
	}
	defer c.close()
	f := &b.results.proofResults
	for {
		var log logState
		if err := c.call(p.monthTenant.target, "GET", "/ledger/log", nil, &log); err != nil {
			return err
		}
		if log.Sealed == int64(len(p.postingIDs)) && log.Published == log.Sealed {
			p.verifierKey = log.Keys[0].VerifierKey
			break
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	f.postings, f.sealDuration = int64(len(p.postingIDs)), time.Since(begin)
	if f.sealMemory, err = memory(p.service.pid(), "VmHWM"); err != nil {
		return err
	}
	logf("sealed in %s, %s", formatDuration(f.sealDuration), formatMB(f.sealMemory))
	return nil
}

// measureProof verifies the books in the database and without it, and asks for proofs.
func (b *bench) measureProof(ctx context.Context, p *closedPeriodEnv) error {
	f := &b.results.proofResults
	database := []string{"DATABASE_URL=" + p.databaseURL}
	against := []string{"--checkpoints", p.checkpointsDir, "--key", p.verifierKey}
	var size int64
	err := b.env.meter.withDatabase(ctx, closedPeriodDatabase, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT pg_total_relation_size('ledger_log_tiles')").Scan(&size)
	})
	if err != nil {
		return err
	}
	f.tileBytesPerPosting = float64(size) / float64(f.postings)
	if f.verify, err = runMeasured(ctx, database, b.binary, append([]string{"ledger", "verify"}, against...)...); err != nil {
		return err
	}
	logf("verify: %s, %s", formatDuration(f.verify.duration), formatMB(f.verify.peakMemory))
	path := filepath.Join(b.env.folder, "past.log.jsonl")
	if f.export, err = runMeasured(ctx, database, b.binary, "ledger", "export", "--format", "log", "--platform", p.monthTenant.id.String(), "--output", path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f.exportBytes = info.Size()
	if f.verifyExport, err = runMeasured(ctx, nil, b.binary, append([]string{"ledger", "verify", "--export", path}, against...)...); err != nil {
		return err
	}
	logf("verify an export: %s, %s", formatDuration(f.verifyExport.duration), formatMB(f.verifyExport.peakMemory))
	return errors.Join(b.measureInclusion(ctx, p), os.Remove(path))
}

const inclusionProofs = 2_000

// measureInclusion asks for the proofs of postings, one after the other, and holds each
// against the root of its head.
func (b *bench) measureInclusion(ctx context.Context, p *closedPeriodEnv) error {
	c, err := dial(ctx, p.monthTenant.address)
	if err != nil {
		return err
	}
	defer c.close()
	took := make([]time.Duration, 0, inclusionProofs)
	for i := range inclusionProofs + inclusionProofs/10 {
		posting := p.postingIDs[rand.IntN(len(p.postingIDs))]
		request := appendRequest(nil, p.monthTenant.requestLine("GET", "/ledger/log/proof?postingId=Posting:"+posting.String()), "", nil)
		begin := time.Now()
		status, body, err := c.roundTrip(request)
		since := time.Since(begin)
		if err != nil {
			return err
		}
		if status != 200 {
			return newUnexpectedStatus("GET /ledger/log/proof", status, body)
		}
		if err := checkInclusion(body); err != nil {
			return fmt.Errorf("the proof of posting %s: %w", posting, err)
		}
		if i >= inclusionProofs/10 { // the first ones are the warm-up
			took = append(took, since)
		}
	}
	b.results.proofResults.inclusionLatency, b.results.proofResults.proofCount = latencyOf(took), inclusionProofs
	return nil
}

// checkInclusion holds a proof against the root of its head.
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

func (r results) proofSection() section {
	f := r.proofResults
	return section{
		title: "Proof",
		prose: []string{
			fmt.Sprintf("%s Sealing: from the start of a service that has none of them in its log, until the last head is signed and outside of the database. "+
				"Verified is against those heads and the key that signs them. Each of %d inclusion proofs, of postings anywhere, was held against the root of its head.",
				r.closedPeriodSentence(), f.proofCount),
		},
		columns: []string{"What", "Value", "Postings/s", "Memory"},
		rows: [][]string{
			{"Sealed by the service", formatDuration(f.sealDuration), formatRate(f.postings, f.sealDuration), formatMB(f.sealMemory)},
			{"The log's tiles and their index, bytes a posting", fmt.Sprintf("%.1f", f.tileBytesPerPosting), "", ""},
			{"`causeway ledger verify`, on the database in use", formatDuration(f.verify.duration), formatRate(f.postings, f.verify.duration), formatMB(f.verify.peakMemory)},
			{"`causeway ledger export --format log`, " + formatMB(f.exportBytes), formatDuration(f.export.duration), formatRate(f.postings, f.export.duration), formatMB(f.export.peakMemory)},
			{"`causeway ledger verify --export`, without a database", formatDuration(f.verifyExport.duration), formatRate(f.postings, f.verifyExport.duration), formatMB(f.verifyExport.peakMemory)},
			{"`GET /ledger/log/proof`, one at a time, " + latencyColumn, f.inclusionLatency.String() + " ms", "", ""},
		},
	}
}

// closedPeriodSentence says what the books of the past hold.
func (r results) closedPeriodSentence() string {
	return fmt.Sprintf("The books hold %d postings, all of last month.", r.proofResults.postings)
}
