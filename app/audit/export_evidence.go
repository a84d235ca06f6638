package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// An export of the log of evidence has the form of one of the log of postings, with one leaf on each line.

// EvidenceFormat is the format in the header of an export of the log of evidence.
const EvidenceFormat = "causeway evidence 1"

type evidenceLine struct {
	Seq    int64          `json:"seq"`
	Sealed string         `json:"sealed"`
	Facts  []evidenceFact `json:"facts"`
}

type evidenceFact struct {
	Kind    string `json:"kind"`
	Subject string `json:"subject"`
	Hash    []byte `json:"hash"` // base64
}

// ExportEvidence writes the log of evidence of a platform, its leaves 1 to upto, all if upto is zero. It returns how
// many it has written.
func (c *Checker) ExportEvidence(ctx context.Context, platform ident.Platform, upto int64, out io.Writer) (size int64, err error) {
	w := bufio.NewWriterSize(out, 64<<10)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	tree := merkle.NewTree()
	err = c.store.EvidenceSnapshot(ctx, func(ctx context.Context, view ports.EvidenceView) error {
		if err := lines.Encode(logHeader{EvidenceFormat, platform.String(), ledger.EvidenceLog.Origin(platform)}); err != nil {
			return err
		}
		return view.Leaves(ctx, platform, func(leaf ledger.EvidenceLeaf) error {
			if upto > 0 && size == upto {
				return nil
			}
			if size++; size%leavesPerFlush == 0 {
				if _, _, err := tree.Flush(); err != nil {
					return err
				}
			}
			if err := lines.Encode(newEvidenceLine(leaf)); err != nil {
				return err
			}
			return tree.Add(merkle.LeafHash(leaf))
		})
	})
	if err == nil && size < upto {
		err = fmt.Errorf("%s has %d leaves of evidence, not %d", platform, size, upto)
	}
	if err != nil {
		return size, fmt.Errorf("export the evidence: %w", err)
	}
	root, err := tree.Root()
	if err != nil {
		return size, err
	}
	if err := lines.Encode(logTrailer{true, size, root[:]}); err != nil {
		return size, err
	}
	return size, w.Flush()
}

func newEvidenceLine(leaf ledger.EvidenceLeaf) evidenceLine {
	line := evidenceLine{Seq: leaf.Seq, Sealed: leaf.Sealed.UTC().Format(logTimeFormat), Facts: make([]evidenceFact, len(leaf.Facts))}
	for i, f := range leaf.Facts {
		line.Facts[i] = evidenceFact{string(f.Kind), f.Subject, f.Hash[:]}
	}
	return line
}

func (l evidenceLine) toLeaf(platform ident.Platform) (leaf ledger.EvidenceLeaf, err error) {
	leaf = ledger.EvidenceLeaf{Platform: platform, Seq: l.Seq, Facts: make([]ledger.Fact, len(l.Facts))}
	if leaf.Sealed, err = parseLogTime(l.Sealed); err != nil {
		return leaf, fmt.Errorf("sealed: %w", err)
	}
	for i, f := range l.Facts {
		leaf.Facts[i] = ledger.Fact{Kind: ledger.FactKind(f.Kind), Subject: f.Subject}
		if copy(leaf.Facts[i].Hash[:], f.Hash) != len(f.Hash) || len(f.Hash) != len(leaf.Facts[i].Hash) {
			return leaf, fmt.Errorf("the hash of fact %d is not one of 32 bytes", i+1)
		}
	}
	return leaf, nil
}

// verifyEvidenceExport verifies an export of the log of evidence, whose header was read.
func verifyEvidenceExport(ctx context.Context, lines *bufio.Reader, platform ident.Platform, v VerifyOptions) (Report, error) {
	published := platformCheckpoints(v.Published, ledger.EvidenceLog, platform)
	if len(published) == 0 {
		return Report{}, fmt.Errorf("no checkpoint is of %s, the log in the export", ledger.EvidenceLog.Origin(platform))
	}
	report := newReport(verifyEvidence)
	check := &checkpointCheck{report: report, platform: platform, names: evidenceNames, keys: v.Keys, tree: merkle.NewTree()}
	check.addCheckpointList(RulePublishedEvidence, published)
	trailer, err := readExportLines(lines, func() int64 { return check.lastSeq }, func(line []byte, number int) error {
		var read evidenceLine
		if err := decodeStrict(line, &read); err != nil {
			return fmt.Errorf("line %d of the export is not a leaf of evidence: %w", number, err)
		}
		leaf, err := read.toLeaf(platform)
		if err != nil {
			return fmt.Errorf("line %d of the export, number %d: %w", number, read.Seq, err)
		}
		return errors.Join(check.addLeaf(ctx, leaf), ctx.Err())
	})
	if err != nil {
		return Report{}, err
	}
	for _, s := range check.sources {
		if err := check.reportTruncation(ctx, s); err != nil {
			return Report{}, err
		}
	}
	return *report, check.checkExportRoot(trailer)
}
