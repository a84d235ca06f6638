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

// proof is what it takes to prove that the books are what they were.
type proof struct {
	postings       int64
	sealing        time.Duration
	sealed         int64   // memory of the service meanwhile
	tiles          float64 // bytes a posting
	verify, export task
	file           int64 // the size of the export
	outside        task  // verify of that file, without a database
	inclusion      latency
	proved         int
}

// logStanding is how the service says that the log stands.
type logStanding struct {
	Postings, Sealed, Published int64
	Keys                        []struct{ VerifierKey string }
}

// measureSealing starts the service on books that nothing is sealed of, and waits until
// the log has caught up.
func (b *bench) measureSealing(ctx context.Context, p *past) error {
	begin := time.Now()
	if err := p.open(ctx, b.binary, b.rig.folder); err != nil {
		return err
	}
	c, err := dial(ctx, p.books.address)
	if err != nil {
		return err
	}
	defer c.close()
	f := &b.results.proof
	for {
		var log logStanding
		if err := c.call(p.books.target, "GET", "/ledger/log", nil, &log); err != nil {
			return err
		}
		if log.Sealed == int64(len(p.made)) && log.Published == log.Sealed {
			p.key = log.Keys[0].VerifierKey
			break
		}
		if err := rest(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	f.postings, f.sealing = int64(len(p.made)), time.Since(begin)
	if f.sealed, err = memory(p.service.pid(), "VmHWM"); err != nil {
		return err
	}
	say("sealed in %s, %s", lasting(f.sealing), megabytes(f.sealed))
	return nil
}

// measureProof verifies the books in the database and without it, and asks for proofs.
func (b *bench) measureProof(ctx context.Context, p *past) error {
	f := &b.results.proof
	database := []string{"DATABASE_URL=" + p.url}
	against := []string{"--heads", p.folder, "--key", p.key}
	var size int64
	err := b.rig.meter.within(ctx, pastDatabase, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT pg_total_relation_size('ledger_tiles')").Scan(&size)
	})
	if err != nil {
		return err
	}
	f.tiles = float64(size) / float64(f.postings)
	if f.verify, err = perform(ctx, database, b.binary, append([]string{"ledger", "verify"}, against...)...); err != nil {
		return err
	}
	say("verify: %s, %s", lasting(f.verify.took), megabytes(f.verify.peak))
	path := filepath.Join(b.rig.folder, "past.log.jsonl")
	if f.export, err = perform(ctx, database, b.binary, "ledger", "export", "--format", "log", "--platform", p.books.id.String(), "--output", path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f.file = info.Size()
	if f.outside, err = perform(ctx, nil, b.binary, append([]string{"ledger", "verify", "--export", path}, against...)...); err != nil {
		return err
	}
	say("verify an export: %s, %s", lasting(f.outside.took), megabytes(f.outside.peak))
	return errors.Join(b.measureInclusion(ctx, p), os.Remove(path))
}

const proofs = 2_000

// measureInclusion asks for the proofs of postings, one after the other, and holds each
// against the root of its head.
func (b *bench) measureInclusion(ctx context.Context, p *past) error {
	c, err := dial(ctx, p.books.address)
	if err != nil {
		return err
	}
	defer c.close()
	took := make([]time.Duration, 0, proofs)
	for i := range proofs + proofs/10 {
		posting := p.made[rand.IntN(len(p.made))]
		request := appendRequest(nil, p.books.requestLine("GET", "/ledger/log/proof?postingId=Posting:"+posting.String()), "", nil)
		begin := time.Now()
		status, body, err := c.exchange(request)
		since := time.Since(begin)
		if err != nil {
			return err
		}
		if status != 200 {
			return unwantedAnswer("GET /ledger/log/proof", status, body)
		}
		if err := includes(body); err != nil {
			return fmt.Errorf("the proof of posting %s: %w", posting, err)
		}
		if i >= proofs/10 { // the first ones are the warm-up
			took = append(took, since)
		}
	}
	b.results.proof.inclusion, b.results.proof.proved = latencyOf(took), proofs
	return nil
}

// includes holds a proof against the root of its head.
func includes(body []byte) error {
	var proof struct {
		LeafIndex int64
		Leaf      []byte
		Hashes    [][]byte
		Head      struct {
			Size     int64
			RootHash []byte
		}
	}
	if err := json.Unmarshal(body, &proof); err != nil {
		return err
	}
	if len(proof.Head.RootHash) != tlog.HashSize {
		return fmt.Errorf("a root of %d bytes", len(proof.Head.RootHash))
	}
	path := make(tlog.RecordProof, len(proof.Hashes))
	for i, hash := range proof.Hashes {
		copy(path[i][:], hash)
	}
	return tlog.CheckRecord(path, proof.Head.Size, tlog.Hash(proof.Head.RootHash), proof.LeafIndex, tlog.RecordHash(proof.Leaf))
}

func (r results) proving() section {
	f := r.proof
	return section{
		title: "Proof",
		prose: []string{
			fmt.Sprintf("%s Sealing: from the start of a service that has none of them in its log, until the last head is signed and outside of the database. "+
				"Verified is against those heads and the key that signs them. Each of %d inclusion proofs, of postings anywhere, was held against the root of its head.",
				r.pastBooks(), f.proved),
		},
		head: []string{"What", "Value", "Postings/s", "Memory"},
		rows: [][]string{
			{"Sealed by the service", lasting(f.sealing), perSecond(f.postings, f.sealing), megabytes(f.sealed)},
			{"The log's tiles and their index, bytes a posting", fmt.Sprintf("%.1f", f.tiles), "", ""},
			{"`causeway ledger verify`, on the database in use", lasting(f.verify.took), perSecond(f.postings, f.verify.took), megabytes(f.verify.peak)},
			{"`causeway ledger export --format log`, " + megabytes(f.file), lasting(f.export.took), perSecond(f.postings, f.export.took), megabytes(f.export.peak)},
			{"`causeway ledger verify --export`, without a database", lasting(f.outside.took), perSecond(f.postings, f.outside.took), megabytes(f.outside.peak)},
			{"`GET /ledger/log/proof`, one at a time, " + latencyHead, f.inclusion.String() + " ms", "", ""},
		},
	}
}

// pastBooks says what the books of the past hold.
func (r results) pastBooks() string {
	return fmt.Sprintf("The books hold %d postings, all of last month.", r.proof.postings)
}
