package books

import (
	"context"

	"causeway/app/merkle"
	"causeway/core/ident"
	"causeway/ports"
)

// storedLog reads the leaves of a log as they were stored, in the order of numbers.
type storedLog struct {
	view     ports.AuditView
	platform ident.Platform
	size     int64
	edge     []byte

	tiles   [][]byte // from first on
	first   int64
	missing bool // the tile at hand, and it has been said
}

// tilesAtOnce is how many tiles of leaves are read together, 8 KiB each.
const tilesAtOnce = 16

func openStoredLog(ctx context.Context, view ports.AuditView, p ident.Platform) (*storedLog, error) {
	size, edge, err := view.Log(ctx, p)
	return &storedLog{view: view, platform: p, size: size, edge: edge, first: -1}, err
}

// leaf is the stored hash of a number; false when it is lost.
func (s *storedLog) leaf(ctx context.Context, seq int64) (hash merkle.Hash, ok bool, err error) {
	n, at := (seq-1)/merkle.TileWidth, (seq-1)%merkle.TileWidth*merkle.HashSize
	tile := s.edge
	if full := s.size / merkle.TileWidth; n < full {
		if s.first < 0 || n < s.first || n >= s.first+int64(len(s.tiles)) {
			if err := s.load(ctx, n, min(full-n, tilesAtOnce)); err != nil {
				return hash, false, err
			}
		}
		tile = s.tiles[n-s.first]
	}
	if at == 0 {
		s.missing = false
	}
	if at+merkle.HashSize > int64(len(tile)) {
		return hash, false, nil
	}
	copy(hash[:], tile[at:])
	return hash, true, nil
}

func (s *storedLog) load(ctx context.Context, first, n int64) (err error) {
	places := make([]ports.TileIndex, n)
	for i := range places {
		places[i].N = first + int64(i)
	}
	s.first = first
	s.tiles, err = s.view.LogTiles(ctx, s.platform, places)
	return err
}

// newlyMissing tells, once a tile, that it is lost.
func (s *storedLog) newlyMissing() bool {
	before := s.missing
	s.missing = true
	return !before
}
