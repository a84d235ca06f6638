package customers

const BatchSize = batchSize
