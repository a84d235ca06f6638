package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// VerifyExport verifies an export of the log of postings, or of the log of evidence, against published checkpoints, without a database.
// A file that is not a complete export is an error; violations are in the report.
func VerifyExport(ctx context.Context, export io.Reader, v VerifyOptions) (Report, error) {
	lines := bufio.NewReaderSize(export, 64<<10)
	header, platform, err := readHeader(lines)
	if err != nil {
		return Report{}, err
	}
	if header.Format == EvidenceFormat {
		return verifyEvidenceExport(ctx, lines, platform, v)
	}
	published := platformCheckpoints(v.Published, ledger.PostingLog, platform)
	if len(published) == 0 {
		return Report{}, fmt.Errorf("no checkpoint is of %s, the log in the export", header.Origin)
	}
	report := newReport(verifyExport)
	postings := &postingCheck{report: report, totals: totals{}, platform: ports.AuditPlatform{Platform: platform, HasClock: true}}
	postings.log = newLogCheck(report, platform, v.Keys)
	postings.log.addCheckpointList(RulePublishedCheckpoints, published)
	trailer, err := readExportLines(lines, func() int64 { return postings.lastSeq }, func(line []byte, number int) error {
		return checkPostingLine(ctx, line, number, postings)
	})
	if err != nil {
		return Report{}, err
	}
	postings.platform.Seq, postings.platform.Recorded = trailer.Size, postings.lastRecorded
	if err := postings.finish(ctx); err != nil {
		return Report{}, err
	}
	return *report, postings.log.checkExportRoot(trailer)
}

// checkExportRoot compares the root hash in the trailer of an export with its leaves.
func (c *checkpointCheck) checkExportRoot(trailer logTrailer) error {
	c.report.countChecked(RuleExport)
	if c.firstMissing > 0 {
		return nil
	}
	root, err := c.tree.Root()
	if err == nil && !bytes.Equal(root[:], trailer.Root) {
		c.report.addFinding(RuleExport, "the root hash in its last line does not match its %s: the file was changed after it was written",
			c.names.leaves)
	}
	return err
}

func readHeader(lines *bufio.Reader) (header logHeader, platform ident.Platform, err error) {
	line, err := readLine(lines)
	if err == nil {
		err = decodeStrict(line, &header)
	}
	log, known := map[string]ledger.Log{LogFormat: ledger.PostingLog, EvidenceFormat: ledger.EvidenceLog}[header.Format]
	if err != nil || !known {
		return header, platform, fmt.Errorf("this is not an export of a log: its first line does not have the format %q or %q",
			LogFormat, EvidenceFormat)
	}
	if platform, err = ident.ParsePlatform(header.Platform); err != nil || header.Origin != log.Origin(platform) {
		return header, platform, errors.New("this is not an export of a log: its first line has no valid platform and origin")
	}
	return header, platform, nil
}

// checkPostingLine checks the posting in a line of an export.
func checkPostingLine(ctx context.Context, line []byte, number int, postings *postingCheck) error {
	var posting logLine
	if err := decodeStrict(line, &posting); err != nil {
		return fmt.Errorf("line %d of the export is not a posting: %w", number, err)
	}
	a, err := posting.toAuditPosting(postings.platform.Platform)
	if err != nil {
		return fmt.Errorf("line %d of the export, number %d: %w", number, posting.Seq, err)
	}
	if err := postings.check(ctx, a); err != nil {
		return err
	}
	if number%1024 == 0 {
		return ctx.Err()
	}
	return nil
}

// readExportLines calls each with the lines of an export between its header and its trailer, which it returns.
func readExportLines(lines *bufio.Reader, last func() int64, each func(line []byte, number int) error) (trailer logTrailer, err error) {
	for number := 2; ; number++ {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return trailer, fmt.Errorf("the export is truncated after line %d, number %d", number-1, last())
		}
		if err != nil {
			return trailer, fmt.Errorf("line %d of the export: %w", number, err)
		}
		if bytes.HasPrefix(line, []byte(`{"end":`)) {
			if err := decodeStrict(line, &trailer); err != nil || !trailer.End {
				return trailer, fmt.Errorf("line %d of the export is not a valid trailer", number)
			}
			if _, err := readLine(lines); !errors.Is(err, io.EOF) {
				return trailer, fmt.Errorf("the export continues after its trailer in line %d", number)
			}
			return trailer, nil
		}
		if err := each(line, number); err != nil {
			return trailer, err
		}
	}
}

// maxLineBytes is far more than a posting with the maximum number of entries needs.
const maxLineBytes = 16 << 20

// readLine reads a complete line. A last line without a newline is io.EOF.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxLineBytes:
			return nil, errors.New("too long")
		}
	}
}

// decodeStrict decodes one JSON object and refuses unknown fields.
func decodeStrict(line []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected data after the object")
	}
	return nil
}
