package books

import (
	"context"
	"io"
	"strconv"
	"time"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/proposal"
	"causeway/ports"
)

// noMoment selects the present mapping.
var noMoment time.Time

// GLMapping returns a version of the mapping to the general ledger, or the present one if version is nil. Fault:
// NOT_FOUND.
func (s *Service) GLMapping(ctx context.Context, p ident.Platform, version *int) (books.MappingVersion, error) {
	if version == nil {
		return s.Store.GLMapping(ctx, p, noMoment)
	}
	found, exists, err := s.Store.GLMappingVersion(ctx, p, *version)
	if err == nil && !exists {
		err = fault.New(fault.NotFound, "The mapping has no version %d. List the versions with GET /ledger/gl-mapping/versions or `causeway "+
			"ledger gl-mapping versions`.", *version)
	}
	return found, err
}

// GLMappingVersions returns a page of the versions of the mapping without their lines, newest first.
func (s *Service) GLMappingVersions(ctx context.Context, p ident.Platform,
	f ports.VersionFilter) (ports.VersionPage[books.MappingVersion], error) {
	return s.Store.GLMappingVersions(ctx, p, f)
}

// SetGLMapping replaces the mapping of version base and returns the new version, or the present one if the lines
// do not differ; or it makes a proposal of the change. Faults: INVALID_INPUT; CONFLICT if base is not the present
// version; those of foureyes.Run.
func (s *Service) SetGLMapping(ctx context.Context, p ident.Platform, c Change, base int,
	lines []books.MappingLine) (proposal.Outcome[books.MappingVersion], error) {
	return run(ctx, s, s.glMapping(), p, c, nil, newMappingRequest(base, lines, c.Note))
}

// mappingRequest is the stored form of a change of the mapping.
type mappingRequest struct {
	BaseVersion int           `json:"baseVersion"`
	Lines       []mappingLine `json:"lines"`
	Note        string        `json:"note,omitempty"`
}

type mappingLine struct {
	Path     string         `json:"path"`
	Currency money.Currency `json:"currency,omitempty"`
	Code     string         `json:"code"`
	Name     string         `json:"name"`
}

func newMappingRequest(base int, lines []books.MappingLine, note string) mappingRequest {
	r := mappingRequest{BaseVersion: base, Note: note, Lines: make([]mappingLine, len(lines))}
	for i, l := range lines {
		r.Lines[i] = mappingLine{l.Path, l.Currency, l.Code, l.Name}
	}
	return r
}

// mapping returns the checked mapping of a request. Fault: INVALID_INPUT.
func (r mappingRequest) mapping() (books.Mapping, error) {
	lines := make([]books.MappingLine, len(r.Lines))
	for i, l := range r.Lines {
		lines[i] = books.MappingLine{Path: l.Path, Currency: l.Currency, GLAccount: books.GLAccount{Code: l.Code, Name: l.Name}}
	}
	mapping, err := books.NewMapping(lines)
	return mapping, withProblems(err, Change{Note: r.Note}.problems())
}

func (s *Service) glMapping() foureyes.Operation[Tx, mappingRequest, books.MappingVersion] {
	return foureyes.Operation[Tx, mappingRequest, books.MappingVersion]{ID: "setGLMapping", Action: books.ActionChart,
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r mappingRequest) (books.MappingVersion, string, error) {
			set, err := setGLMapping(ctx, tx, c, r)
			return set, strconv.Itoa(set.Version), err
		}}
}

func setGLMapping(ctx context.Context, tx Tx, c foureyes.Change, r mappingRequest) (set books.MappingVersion, err error) {
	mapping, err := r.mapping()
	if err != nil {
		return set, err
	}
	if _, err := tx.LockPeriods(ctx, c.Platform); err != nil {
		return set, err
	}
	present, err := tx.GLMapping(ctx, c.Platform, noMoment)
	if err != nil {
		return set, err
	}
	if present.Version != r.BaseVersion {
		return set, conflict("Mapping changed", "The mapping has version %d, not %d: another change was made since. Read it again, and repeat "+
			"your change with the new version.", present.Version, r.BaseVersion)
	}
	if present.Equal(mapping) && c.Approval.IsZero() {
		return present, nil
	}
	set = books.MappingVersion{Mapping: mapping, Version: r.BaseVersion + 1, At: c.At, By: c.By, Approval: c.Approval, Note: r.Note}
	// Reports of a past moment use the mapping of that moment, so a version is never older than the one before.
	if !set.At.After(present.At) {
		set.At = present.At.Add(time.Microsecond)
	}
	return set, tx.SaveGLMapping(ctx, c.Platform, set)
}

// ImportGLMapping is SetGLMapping with the lines of a CSV file. Faults name the rows of the file.
func (s *Service) ImportGLMapping(ctx context.Context, p ident.Platform, c Change, base int,
	file io.Reader) (set proposal.Outcome[books.MappingVersion], err error) {
	rows, err := readCSV(file, books.MaxMappingLines+1)
	if err != nil {
		return set, err
	}
	lines, err := books.ParseMappingRows(rows)
	if err != nil {
		return set, err
	}
	set, err = s.SetGLMapping(ctx, p, c, base, lines)
	return set, books.RowFields(err)
}
