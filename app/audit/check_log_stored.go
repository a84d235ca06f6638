package audit

import (
	"context"

	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/ports"
)

// storedLog reads the leaves of a log as they were stored, in the order of numbers.
type storedLog struct {
	view     ports.AuditView
	platform ident.Platform
	size     int64
	edge     []byte

	loadedTiles     [][]byte // from first on
	firstTile       int64
	missingReported bool // the tile at hand, and it has been said
}

// tilesPerRead is how many tiles of leaves are read together, 8 KiB each.
const tilesPerRead = 16

func openStoredLog(ctx context.Context, view ports.AuditView, p ident.Platform) (*storedLog, error) {
	size, edge, err := view.Log(ctx, p)
	return &storedLog{view: view, platform: p, size: size, edge: edge, firstTile: -1}, err
}

// leaf is the stored hash of a number; false when it is lost.
func (s *storedLog) leaf(ctx context.Context, seq int64) (hash merkle.Hash, ok bool, err error) {
	n, at := (seq-1)/merkle.TileWidth, (seq-1)%merkle.TileWidth*merkle.HashSize
	tile := s.edge
	if full := s.size / merkle.TileWidth; n < full {
		if s.firstTile < 0 || n < s.firstTile || n >= s.firstTile+int64(len(s.loadedTiles)) {
			if err := s.loadTiles(ctx, n, min(full-n, tilesPerRead)); err != nil {
				return hash, false, err
			}
		}
		tile = s.loadedTiles[n-s.firstTile]
	}
	if at == 0 {
		s.missingReported = false
	}
	if at+merkle.HashSize > int64(len(tile)) {
		return hash, false, nil
	}
	copy(hash[:], tile[at:])
	return hash, true, nil
}

func (s *storedLog) loadTiles(ctx context.Context, first, n int64) (err error) {
	places := make([]ports.TileIndex, n)
	for i := range places {
		places[i].N = first + int64(i)
	}
	s.firstTile = first
	s.loadedTiles, err = s.view.LogTiles(ctx, s.platform, places)
	return err
}

// markTileMissing tells, once a tile, that it is lost.
func (s *storedLog) markTileMissing() bool {
	before := s.missingReported
	s.missingReported = true
	return !before
}
