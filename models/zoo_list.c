#include "zoo.h"

#include <string.h>

/* The counts follow from the layer sizes; tests/unit/models/test_zoo.c shows the arithmetic. */
const struct zoo_model zoo_models[] = {
    {"resnet18", "ResNet-18", "batch=1", 1814073344, zoo_resnet18, true},
    {"resnet50", "ResNet-50 v1.5", "batch=1", 4089184256, zoo_resnet50, true},
    {"mobilenetv2", "MobileNetV2 1.0", "batch=1", 300774272, zoo_mobilenetv2, true},
    {"vgg16", "VGG-16", "batch=1", 15470264320, zoo_vgg16, false},
    {"vit_b_16", "ViT-B/16", "batch=1", 17563828224, zoo_vit_b_16, false},
    {"bert_base", "BERT-base with pooler", "batch=1,sequence=128", 11174215680, zoo_bert_base, false},
    {"gpt2", "GPT-2 124M, all logits", "batch=1,sequence=128", 16114089984, zoo_gpt2, false},
    /* text, speech, recurrent layers: tests/unit/models/test_zoo_sequences.c */
    {"distilbert", "DistilBERT-base", "batch=1,sequence=128", 5586812928, zoo_distilbert, false},
    {"whisper_tiny_encoder", "Whisper tiny, encoder", "batch=1", 18468864000, zoo_whisper_encoder, false},
    {"crnn", "CRNN, text lines", "batch=1,width=100", 705143808, zoo_crnn, false},
    {"deepspeech2_lstm", "Deep Speech 2, LSTM 1024", "batch=1,frames=200", 9714236800, zoo_deepspeech_lstm,
     false},
    {"deepspeech2_gru", "Deep Speech 2, GRU 800", "batch=1,frames=200", 5174809600, zoo_deepspeech_gru,
     false},
    {"keyword_gru", "Keyword spotting, GRU", "batch=1", 4095616, zoo_keyword, false},
};
const size_t zoo_model_count = OC_COUNT(zoo_models);

const struct zoo_model *zoo_find(const char *name)
{
    for (size_t i = 0; i < zoo_model_count; i++)
        if (!strcmp(zoo_models[i].name, name))
            return &zoo_models[i];
    return NULL;
}
