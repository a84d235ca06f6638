package local

// secrets are the buffers with private values of one call. They are on the heap, where they do not move.
type secrets struct{ buffers [][]byte }

// add makes a buffer one that wipe overwrites, and returns it.
func (s *secrets) add(buffer []byte) []byte {
	s.buffers = append(s.buffers, buffer)
	return buffer
}

// wipe overwrites the buffers.
func (s *secrets) wipe() {
	for _, buffer := range s.buffers {
		clear(buffer[:cap(buffer)])
	}
}
